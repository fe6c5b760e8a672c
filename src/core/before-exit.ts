/** What has to happen, synchronously, before the process ends. The command line calls it. */

const tasks = new Set<() => void>();

/** Registers a task; returns a function that removes it. */
export function beforeExit(task: () => void): () => void {
  tasks.add(task);
  return () => tasks.delete(task);
}

export function runBeforeExit(): void {
  for (const task of tasks) task();
  tasks.clear();
}
