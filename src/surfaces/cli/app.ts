/** What commands may ask of the program: use cases by name, nothing of how they are run. Filled by `compose`. */
export interface App {
  readonly version: string;
}
