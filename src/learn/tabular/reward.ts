/** The reward rule of an experiment, as recorded in the manifest. */
export interface Reward {
  readonly name: string;
  readonly version: string;
  readonly spec: string;
  /** `import.meta.url` of the module that holds the rule. */
  readonly module: string;
}
