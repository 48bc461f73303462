import type { AgentCli } from "../agent-clis/installed.ts";
import type { Dialect } from "../fake-model/dialect.ts";
import type { CallStep, Step, Usage } from "../fake-model/script.ts";
import type { CheckName } from "./checks.ts";

/** A runtime and one of its drivers, as the kit tries them: what differs between programs, as data. */
export interface KitDriver {
  /** Its name in reports and in the name of its results. */
  readonly id: string;
  /** What `ov sling --runtime` is given. */
  readonly runtime: string;
  /** The name of the driver as our records have it. */
  readonly driver: string;
  /** The installed program; null for our own. */
  readonly cli: AgentCli | null;
  /** What the program says of itself. */
  readonly version: string;
  /** The dialect between it and its model. */
  readonly dialect: Dialect["name"];
  /** What a person has in the shell in which they sling. */
  shell(place: KitPlace): Readonly<Record<string, string>>;
  /** Files that it needs, below its home. */
  files(place: KitPlace): Readonly<Record<string, string>>;
  /** The model that is asked for, and its name in requests. */
  readonly model: { readonly flag: string; readonly wire: string };
  /** A use of its own tool for files that writes a file of the worktree, which is given by its absolute path. */
  edit(path: string): CallStep;
  /** Tokens as our records must have them, from what the answers of the model claimed. */
  counted(usage: Usage): Usage;
  /** Dollars for these tokens, as the program tells them; null where it tells none. */
  cost(usage: Usage): number | null;
  /** The limit of silence in the strict project: more than the program needs to start on a busy machine. */
  readonly silenceMs: number;
  /** Its usage comes with each answer; otherwise once, at the end of the turn. */
  readonly tellsUsageEarly: boolean;
  /** A message reaches the turn that is running; otherwise the next one. */
  readonly steers: boolean;
  /** A turn that was killed goes on in its conversation; otherwise in a new one. */
  readonly namesSessionEarly: boolean;
  /** It says when a limit ends, and so we know. */
  readonly tellsReset: boolean;
  /** Checks that do not apply to it, each with its reason. At most three. */
  readonly skips: Readonly<Partial<Record<CheckName, string>>>;
  /** How steps reach it; null for programs with a model behind them, which find their script in the prompt. */
  readonly stage: Stage | null;
}

export interface KitPlace {
  /** The fake model. */
  readonly url: string;
  readonly home: string;
}

/** A step of a script. `isDenied`: the guard is expected to deny it. */
export type KitStep = Step & { readonly isDenied?: true };

/** For an agent without a model: it is told what to do in a file. */
export interface Stage {
  /** Makes the agent whose prompt has the words that are returned do these steps. `isMangled`: and print badly. */
  script(scenario: string, steps: readonly KitStep[], isMangled: boolean): string;
}
