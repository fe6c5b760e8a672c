/** Who asks for a file: user code, the loader that reads its modules, or Node's own module loader. */

export type Caller = "user" | "loader" | "native";

const FRAMES = 40;

/** Looks up the stack, from Node's own frames to the first that is not Node's. */
export function callerOf(loaderFile: string): Caller {
  const files = stackFiles();
  const inner = files.findIndex((file) => file.startsWith("node:"));
  const between = files.slice(inner).findIndex((file) => !file.startsWith("node:"));
  const node = files.slice(inner, between < 0 ? undefined : inner + between);
  if (node.some((file) => file.startsWith("node:internal/modules/esm/"))) return "native";
  if (node.some((file) => file.startsWith("node:internal/modules/"))) return "loader";
  return between >= 0 && files[inner + between] === loaderFile ? "loader" : "user";
}

function stackFiles(): string[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = FRAMES;
    Error.prepareStackTrace = (_, frames) => frames.map((frame) => frame.getFileName() ?? "");
    const here = { stack: [] as string[] };
    Error.captureStackTrace(here);
    return here.stack;
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
}
