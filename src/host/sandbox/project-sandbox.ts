import { existsSync, realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { WorktreeKind } from "../../domain/agent/agent.ts";
import { scratchOf } from "../../domain/guard/policy.ts";
import { recordName } from "../../domain/project/place.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Footprint } from "../../ports/runtime.ts";
import type { AgentProgram, Confinement, GateProgram, ProbeProgram, Sandbox } from "../../ports/sandbox.ts";
import { enginePaths } from "../engine-contact/keeper.ts";
import { ifThere, makeWithin } from "../file-access.ts";
import { commonDirAt } from "../project-place.ts";
import { confinedHome } from "../turn-files.ts";
import { bubblewrapWords, findBubblewrap } from "./bubblewrap.ts";
import { neededOfPersonal, otherStates, personalDirs } from "./personal-files.ts";
import {
  hiddenBySystem,
  hiddenCredentials,
  hiddenSockets,
  homeMounts,
  isIn,
  type Mount,
  pinned,
  sharedPlaces,
} from "./profile.ts";
import { programFiles } from "./program-files.ts";
import { hiddenVendorFiles, placeOf, withoutMoves } from "./vendor-files.ts";

export interface SandboxTerms {
  readonly root: string;
  readonly state: string;
  readonly settings: {
    readonly mode: "off" | "guard" | "os";
    readonly required: boolean;
    /** More paths that confined programs may read or write; `~` is the home. */
    readonly readable: readonly string[];
    readonly writable: readonly string[];
  };
  /** Where the worktrees of all agents and the checkouts of all gates are. */
  readonly workplaces: readonly string[];
  /** What the programs of all runtimes keep in a home. An agent sees only what its own program keeps. */
  readonly footprints: readonly Footprint[];
  /** How this very program is started. */
  readonly self: readonly string[];
  /** Where `ov` lies for agents. */
  readonly shimDir: string;
}

/** Why the system does not confine agents although the settings ask for it; undefined where it does, or need not. */
export function unconfinedBecause({ settings, state }: Pick<SandboxTerms, "settings" | "state">): string | undefined {
  if (settings.mode !== "os") return undefined;
  const found = findBubblewrap(state);
  return "problem" in found ? found.problem : undefined;
}

/** May an agent start? Not where the settings say that it must be confined and the system cannot. */
export function confinable(terms: Pick<SandboxTerms, "settings" | "state">): Result<null, Refusal> {
  const problem = terms.settings.required ? unconfinedBecause(terms) : undefined;
  return problem === undefined ? ok(null) : no({ kind: "unconfined", problem });
}

/** Confines programs of a project by bubblewrap. */
export function projectSandbox(terms: SandboxTerms): Sandbox {
  const { settings, state } = terms;
  const program = (): string | undefined => {
    const found = settings.mode === "os" ? findBubblewrap(state) : undefined;
    return found !== undefined && "program" in found ? found.program : undefined;
  };
  const programFor = (kind: WorktreeKind): string | undefined =>
    kindProblem(terms, kind) === undefined ? program() : undefined;
  return {
    refusal: (kind) => (settings.required ? (unconfinedBecause(terms) ?? kindProblem(terms, kind)) : undefined),
    confines: (kind) => programFor(kind) !== undefined,
    forAgent: (agent) => {
      const bwrap = programFor(agent.worktreeKind);
      return bwrap === undefined ? null : agentConfinement(bwrap, terms, agent);
    },
    forProbe: (probe) => {
      const bwrap = program();
      return bwrap === undefined ? null : probeConfinement(bwrap, terms, probe);
    },
    forGate: (gate) => {
      const problem = settings.required ? unconfinedBecause(terms) : undefined;
      if (problem !== undefined) throw new Error(`sandbox.required says that gates are confined, but ${problem}`);
      const bwrap = program();
      return bwrap === undefined ? null : gateConfinement(bwrap, terms, gate);
    },
  };
}

/** With a linked worktree an agent writes the objects and refs of the whole project, so nothing can confine it. */
const kindProblem = ({ settings }: SandboxTerms, kind: WorktreeKind): string | undefined =>
  settings.mode === "os" && kind === "linked"
    ? "its worktree was made before sandbox.mode was os and shares the project's git directory"
    : undefined;

/** Sockets behind these lead to programs of the user. */
const leadsOutside = [
  "SSH_AUTH_SOCK",
  "SSH_AGENT_PID",
  "XDG_RUNTIME_DIR",
  "DBUS_SESSION_BUS_ADDRESS",
  "TMUX",
  "DISPLAY",
  "WAYLAND_DISPLAY",
];

function insideEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !leadsOutside.includes(name));
  return { ...Object.fromEntries(kept), TMPDIR: "/tmp" };
}

function agentConfinement(bwrap: string, terms: SandboxTerms, agent: AgentProgram): Confinement {
  const { state } = terms;
  const { agentName, cwd, turnDir, env, footprint, worktreeKind } = agent;
  const own = join(state, "agents", agentName);
  const scratch = scratchOf(state, agentName);
  const home = homeOf(env);
  const shown = listed(terms, home);
  const keeps = [...footprint.keeps, ...caches].filter(
    (path) => !shown.all.some((other) => isIn(other, join(home, path))),
  );
  const kept = keeps.map((path) => ({ path, from: join(confinedHome(state, agentName), path) }));
  for (const { from } of kept) makeWithin(from, 6);
  makeWithin(scratch, 4);
  const contact = contactDirs(state);
  const named = (names: readonly string[]): readonly string[] =>
    names.flatMap((name) => (env[name] !== undefined && isAbsolute(env[name]) ? [env[name]] : []));
  const mounts: readonly Mount[] = [
    ...common(terms, { home, env, own: kept, shown, program: agent.program, shells: [agent.shell] }),
    ...[join(state, recordName), terms.shimDir, join(state, "run", "merge-rules.gitconfig")].map(toRead),
    ...contact.map(toRead),
    { kind: "link", at: join(state, "run", "engine.json"), to: "contact/engine.json" },
    toRead(own),
    { kind: "write", at: scratch },
    ...(turnDir === null ? [] : [{ kind: "write", at: turnDir } as const]),
    ...(worktreeKind === "clone" ? worktreeMounts(cwd) : []),
    ...named(footprint.reads).map(toRead),
    ...named(footprint.writes).map((at): Mount => ({ kind: "write", at })),
    ...agent.steering.flatMap((file) => {
      // The directory of a turn lies in the checkout of the project, of which nothing may become writable on the way.
      const base = turnDir !== null && isIn(file, turnDir) ? turnDir : worktreeKind === "clone" ? cwd : null;
      return base === null ? [] : pinned(base, file);
    }),
    ...shown.mounts,
  ];
  const brought = footprint.brings.flatMap((path) =>
    broughtFile(placeOf(path, home, footprint, agent.shell), { home, path }),
  );
  const confined = { mounts: [...mounts, ...brought.map(({ mount }) => mount)], cwd };
  const before = bubblewrapWords(bwrap, {
    ...confined,
    makes: agent.makes.map((path) => join(home, path)),
    copies: brought.map(({ mount, to }) => ({ from: mount.at, to })),
  });
  return { before, env: insideEnvironment(withoutMoves(env, footprint, agent.shell, shown.all)) };
}

/** A home may be reached by a link. Mounts are made where it really is. */
const homeOf = ({ HOME = "/" }: Readonly<Record<string, string>>): string => ifThere(() => realpathSync(HOME)) ?? HOME;

/** Settings and logins are copied: a program replaces such a file, which it could not do with a mount. */
function broughtFile(
  at: string,
  { home, path }: { readonly home: string; readonly path: string },
): readonly { readonly mount: Mount & { at: string }; readonly to: string }[] {
  const from = ifThere(() => realpathSync(at));
  if (from === undefined) return [];
  return [{ mount: { kind: "read", from, at: join("/run/overstory", path) }, to: join(home, path) }];
}

/** Starts the program as an agent's would be started, without an agent, to see whether it can. */
function probeConfinement(bwrap: string, terms: SandboxTerms, { program, env }: ProbeProgram): Confinement {
  const home = homeOf(env);
  const shown = listed(terms, home);
  const mounts = [...common(terms, { home, env, own: [], shown, program, shells: [env] }), ...shown.mounts];
  return { before: bubblewrapWords(bwrap, { mounts, cwd: "/" }), env: insideEnvironment(env) };
}

/** Caches are the agent's own: in a shared one an agent could write what another agent, or a gate, runs. */
const caches = [".cache", ".npm"];

function gateConfinement(bwrap: string, terms: SandboxTerms, { place, reads, env, shells }: GateProgram): Confinement {
  const home = homeOf(env);
  const shown = listed(terms, home);
  const mounts: readonly Mount[] = [
    ...common(terms, { home, env, own: [], shown, program: null, shells }),
    { kind: "write", at: place },
    ...reads.map(toRead),
    ...shown.mounts,
  ];
  return { before: bubblewrapWords(bwrap, { mounts, cwd: place }), env: insideEnvironment(env) };
}

interface CommonTerms {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly own: readonly { readonly path: string; readonly from: string }[];
  readonly shown: Listed;
  /** The program to start, by its name or path; null for a shell. */
  readonly program: string | null;
  /** The shells from which agents were started. */
  readonly shells: readonly Readonly<Record<string, string>>[];
}

/** What every confined program sees: the system, a home without credentials and personal files, and the project for reading. */
function common(terms: SandboxTerms, { home, env, own, shown, program, shells }: CommonTerms): readonly Mount[] {
  const { root, state, workplaces, footprints, self } = terms;
  const vendors = hiddenVendorFiles({ footprints, home, root, shells, shown: shown.all });
  const commonDir = commonDirAt(root) ?? dirname(state);
  const path = (env.PATH ?? "").split(":").filter((dir) => isAbsolute(dir) && hiddenBySystem(dir) && existsSync(dir));
  const inHome = [...vendors.inHome, ...caches, ...personalDirs(home)];
  const hidden = [...sharedPlaces, ...inHome.map((name) => join(home, name)), ...vendors.paths];
  const closed = [home, root, state, commonDir];
  const needed = neededOfPersonal({
    home,
    env,
    hidden: [...vendors.inHome.map((name) => join(home, name)), ...vendors.paths],
    closed,
  });
  // What lies in a directory that is hidden anyway needs no mount.
  const states = otherStates(root, state).filter(
    ({ at }) => !personalDirs(home).some((name) => isIn(at, join(home, name))),
  );
  const words = [...self, ...(program === null ? [] : [program])];
  const programs = words.flatMap((word) => programFiles(word, { path: env.PATH ?? "", hidden, closed }));
  return [
    ...vendors.before,
    ...homeMounts({ home, own, hidden: inHome }),
    ...[...needed, ...path, ...self.flatMap(checkoutOf), ...programs].map(toRead),
    toRead(root),
    ...(isIn(commonDir, root) ? [] : [toRead(commonDir)]),
    ...vendors.inProject,
    ...hiddenCredentials({ homes: [...new Set([home, userInfo().homedir])], shells, shown: shown.all }),
    ...hiddenSockets([home, root], (path) =>
      [state, ...states.map(({ at }) => at), ...workplaces, ...contactDirs(state), ...shown.all].some((dir) =>
        isIn(path, dir),
      ),
    ),
    ...workplaces.filter((path) => existsSync(path)).map((at): Mount => ({ kind: "empty", at })),
    ...states,
    { kind: "empty", at: state },
  ];
}

/** Run from a checkout, our program needs all of that checkout. */
const checkoutOf = (word: string): readonly string[] =>
  word.endsWith("/bin/ov") && hiddenBySystem(word) ? [dirname(dirname(word))] : [];

interface Listed {
  readonly all: readonly string[];
  readonly mounts: readonly Mount[];
}

/** The paths that the settings list, as they are on this machine. */
function listed({ settings, root }: SandboxTerms, home: string): Listed {
  const absolute = (path: string): string =>
    path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : resolve(root, path);
  const readable = settings.readable.map(absolute).filter((path) => existsSync(path));
  const writable = settings.writable.map(absolute).filter((path) => existsSync(path));
  return {
    all: [...readable, ...writable],
    mounts: [...readable.map(toRead), ...writable.map((at): Mount => ({ kind: "write", at }))],
  };
}

const toRead = (at: string): Mount => ({ kind: "read", at });

/**
 * The agent's own checkout, and its git directory without what names programs. Every directory on the way to such a file is a
 * mount of its own, so that none can be moved away.
 */
const worktreeMounts = (path: string): readonly Mount[] => {
  const git = join(path, ".git");
  const write = (at: string): Mount => ({ kind: "write", at });
  return [
    write(path),
    write(git),
    ...["hooks", "config", "config.worktree"]
      .map((name) => join(git, name))
      .filter(existsSync)
      .map(toRead),
    ...pinned(git, join(git, "objects", "info", "alternates")),
  ];
};

/** Directories in which the engine listens. A mounted file would be another one after the engine was started again. */
function contactDirs(state: string): readonly string[] {
  const { contact, socket } = enginePaths(state);
  makeWithin(contact, 2);
  return [...new Set([contact, dirname(socket)])].filter((dir) => existsSync(dir));
}
