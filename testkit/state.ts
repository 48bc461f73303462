import { join } from "node:path";
import { stateDir } from "../src/host/project-place.ts";

/** A path in the state directory of the project at `root`. */
export const statePath = (root: string, ...path: string[]): string => join(stateDir(root), ...path);
