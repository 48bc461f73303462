/** Files at paths that a person typed, relative to where the command was typed. */
export interface TypedFiles {
  absolute(path: string): string;
  exists(path: string): boolean;
  /** With everything below it. */
  remove(path: string): void;
}
