import type { CheckName } from "./checks.ts";
import type { KitWorld } from "./world.ts";

/** One stretch of agents' work, and the checks that can be made on it: programs start slowly, so checks share it. */
export interface Scene {
  readonly name: string;
  /** `strict`: a project with small limits of time and tokens. */
  readonly in: "calm" | "strict";
  /** Also played by `npm test`, for each program. */
  readonly isSmoke: boolean;
  readonly checks: readonly CheckName[];
  /** Plays the scene and returns its checks. A check throws when the promise is broken. */
  play(world: KitWorld): Promise<Checks>;
}

export type Checks = Readonly<Partial<Record<CheckName, Check>>>;
type Check = () => void | Promise<void>;

interface Script<Name extends CheckName> {
  readonly name: string;
  readonly in?: Scene["in"];
  readonly isSmoke?: boolean;
  readonly checks: readonly Name[];
  play(world: KitWorld): Promise<Readonly<Record<Name, Check>>>;
}

/** A scene has each of the checks that it names. */
export const scene = <Name extends CheckName>(script: Script<Name>): Scene => ({
  in: "calm",
  isSmoke: false,
  ...script,
});
