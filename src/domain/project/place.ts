/** The place of one project. All other paths are found from these two directories. */
export interface ProjectPlace {
  /** The checkout whose `.overstory/` holds what people share: configuration, role texts, specifications. */
  readonly root: string;
  /** The state directory: database, `run/`, logs, blobs, trash, backups. No branch and no `git clean` reaches it. */
  readonly state: string;
}

/** What a state directory says about itself, in `project.json`. */
export interface ProjectRecord extends ProjectPlace {
  /** The same as in the database. A copy of the directory has it too; that is how a copy is noticed. */
  readonly id: string;
  /** Of the state directory. They stay when it is moved, and a copy has others. */
  readonly device: string;
  readonly inode: string;
  /** Where the root was before the project was moved. Processes that started then still say so. */
  readonly formerRoots: readonly string[];
}

/** The name of the state directory in the common git directory. Not `overstory`: git would take that for our branches. */
export const stateDirName = "ov-state";

/** The directory in a checkout that people share. Earlier versions kept the state in it too. */
export const sharedDirName = ".overstory";

export const databaseName = "overstory.db";
export const recordName = "project.json";
/** What the operator confirmed of the programs that the repository names. */
export const trustName = "trust.json";
