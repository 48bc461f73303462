/** Where one project is. Everything else is found from these two directories. */
export interface ProjectPlace {
  /** The checkout whose `.overstory/` holds what people share: configuration, role texts, specifications. */
  readonly root: string;
  /** The state directory: database, `run/`, logs, blobs, trash, backups. No branch and no `git clean` reaches it. */
  readonly state: string;
}

/** The name of the state directory in the common git directory. Not `overstory`: git would take that for our branches. */
export const stateDirName = "ov-state";

/** The directory in a checkout that people share. */
export const sharedDirName = ".overstory";

export const databaseName = "overstory.db";
