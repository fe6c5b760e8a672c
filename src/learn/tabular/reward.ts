/** The rule that pays in an experiment, as the manifest names it. */
export interface Reward {
  readonly name: string;
  readonly version: string;
  readonly spec: string;
  /** `import.meta.url` of the module that holds the rule. */
  readonly module: string;
}
