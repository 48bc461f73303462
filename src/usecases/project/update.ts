import { Failure } from "../../domain/failure.ts";
import { isKept, type KeptState, updateStep } from "../../domain/project/generated-state.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { OverrideState } from "../../domain/role/override.ts";
import { fields, flag, list, oneOf } from "../../domain/schema/schema.ts";
import type { GeneratedPart, GeneratedParts, HookSettings } from "../../ports/project-setup.ts";
import { compareHooks, installInto } from "../hooks/settings.ts";
import type { Effect } from "../operation.ts";

/** What can be asked for alone. The other parts are brought up to date when nothing is. */
const namedParts = ["agents", "manifest", "hooks"] as const;
export type NamedPart = (typeof namedParts)[number];

export interface UpdateRequest {
  /** None: everything. */
  readonly only: readonly NamedPart[];
  readonly dryRun: boolean;
  /** Also replace files that were edited by hand, keeping a copy. The project's own texts are never replaced. */
  readonly force: boolean;
}

/** Something that was left as it is, because it was changed by hand. */
export interface Kept {
  readonly part: "agentDefs" | GeneratedPart["part"];
  /** Relative to the root. */
  readonly path: string;
  readonly state: KeptState;
  /** Completes the sentence "`<path>` ...". */
  readonly why: string;
  /** `force` would replace it. */
  readonly replaceable: boolean;
}

interface Updated {
  /** With `dryRun`: would be. */
  readonly updated: boolean;
}

export interface UpdateReport
  extends Readonly<Record<"manifest" | "hooks" | "gitignore" | "readme" | "instructions", Updated>> {
  readonly dryRun: boolean;
  /** Role texts ship inside the program, so the project's own are all there are, and none is ever written. */
  readonly agentDefs: { readonly updated: readonly string[]; readonly unchanged: readonly string[] };
  /** Paths that were written, or would be, relative to the root. */
  readonly written: readonly string[];
  readonly kept: readonly Kept[];
  /** Copies of replaced files. */
  readonly backups: readonly string[];
}

/** Brings what the program generated into a project up to date. Repeatable: a second call changes nothing. */
export const update: Effect<UpdateRequest, UpdateReport> = {
  kind: "effect",
  request: fields({ only: list(oneOf(namedParts)), dryRun: flag, force: flag }),
  place: "caller",
  operatorOnly: true,
  action: () => "update the project",
  run: async (world, request) => {
    const configuration = await world.configuration();
    if (!configuration.isWritten()) throw new Failure({ kind: "not-initialised", root: (await world.place()).root });
    const { runtime, agents } = await configuration.ofFiles();
    const generated = await world.generatedParts();
    const isMeant = (part: NamedPart): boolean => request.only.length === 0 || request.only.includes(part);
    const isWhole = request.only.length === 0;
    const parts = [
      isWhole ? generated.file("gitignore") : undefined,
      isWhole ? generated.file("readme") : undefined,
      isMeant("manifest") ? generated.file("manifest") : undefined,
      isWhole ? generated.guide(runtime.default) : undefined,
      isMeant("hooks") ? hooksPart(await world.hookSettings()) : undefined,
    ];
    const done = await carryOut(
      generated,
      parts.filter((part) => part !== undefined),
      request,
    );
    if (!done.ok) return done;
    const own = isMeant("agents") ? ownTexts(generated, agents.baseDir) : { names: [], kept: [] };
    return ok(report(request, done.value, own));
  },
};

/** Our entries in a person's settings; undefined where they are not installed. */
function hooksPart(settings: HookSettings): GeneratedPart | undefined {
  const { path } = settings.format;
  const standing = compareHooks(settings);
  const part = "hooks";
  if (!standing.ok) {
    const { refusal } = standing;
    const named = refusal.kind === "invalid" ? refusal : { value: undefined, problem: "cannot be used" };
    return {
      part,
      path: named.value ?? "settings",
      state: "unknown",
      stuck: named.problem,
      write: async () => undefined,
    };
  }
  const state = standing.value;
  if (state === "missing") return undefined;
  return {
    part,
    path,
    state,
    write: async () => {
      const installed = installInto(settings, { force: true });
      return installed.ok ? undefined : installed.refusal;
    },
  };
}

interface Done {
  readonly written: readonly GeneratedPart[];
  readonly kept: readonly Kept[];
  readonly backups: readonly string[];
}

/** Part by part, each whole or not at all: if it is cut short, the next call goes on. */
async function carryOut(
  generated: GeneratedParts,
  parts: readonly GeneratedPart[],
  request: UpdateRequest,
): Promise<Result<Done, Refusal>> {
  const written: GeneratedPart[] = [];
  const kept: Kept[] = [];
  const backups: string[] = [];
  for (const found of parts) {
    const { part, path, state, stuck } = found;
    const step = stuck === undefined ? updateStep(state, request) : "keep";
    if (step === "keep" && isKept(state)) {
      kept.push({ part, path, state, why: stuck ?? reasons[state], replaceable: stuck === undefined });
    }
    if (step !== "write" && step !== "replace") continue;
    if (!request.dryRun) {
      if (step === "replace") backups.push(generated.keepCopy(path));
      const refusal = await found.write();
      if (refusal !== undefined) return no(refusal);
    }
    written.push(found);
  }
  return ok({ written, kept, backups });
}

const reasons: Readonly<Record<KeptState, string>> = {
  edited: "was changed by hand; what ships has not changed since",
  diverged: "was changed by hand, and what ships has changed since",
  unknown: "is not known to be as this program wrote it",
};

interface OwnTexts {
  readonly names: readonly string[];
  readonly kept: readonly Kept[];
}

/** Texts of the project's own: looked at, never written. */
function ownTexts(generated: GeneratedParts, dir: string): OwnTexts {
  const texts = generated.ownTexts(dir);
  return {
    names: texts.flatMap(({ names }) => names),
    kept: texts.flatMap(({ state, replacement: path }) =>
      state === "built-in" ? [] : [{ part: "agentDefs" as const, path, ...standings[state], replaceable: false }],
    ),
  };
}

const standings: Readonly<Record<Exclude<OverrideState, "built-in">, Pick<Kept, "state" | "why">>> = {
  replaced: { state: "edited", why: "counts instead of the text that ships" },
  outdated: { state: "diverged", why: "counts, but the text that ships has changed since it was made" },
  ignored: { state: "unknown", why: "does not count, for its first line does not say what it replaces" },
};

function report({ dryRun }: UpdateRequest, { written, kept, backups }: Done, own: OwnTexts): UpdateReport {
  const of = (part: GeneratedPart["part"]) => ({ updated: written.some((one) => one.part === part) });
  return {
    dryRun,
    agentDefs: { updated: [], unchanged: own.names },
    manifest: of("manifest"),
    hooks: of("hooks"),
    gitignore: of("gitignore"),
    readme: of("readme"),
    instructions: of("instructions"),
    written: written.map(({ path }) => path),
    kept: [...kept, ...own.kept],
    backups,
  };
}
