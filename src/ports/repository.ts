/** The git repository of a project, as far as it is there before the project is. */
export interface RepositoryBranches {
  /** The branch checked out where the command was typed, also before its first commit; undefined when there is none. */
  current(): Promise<string | undefined>;
  /** There is a branch of this name, or it is checked out and waits for its first commit. */
  has(branch: string): Promise<boolean>;
}
