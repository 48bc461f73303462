import { type DoctorCheck, found, passed } from "../../domain/consistency/check.ts";
import { isSecretSetting } from "../../domain/text/secret-lines.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import type { ProjectSurvey, TrackedSecrets } from "../../ports/project-survey.ts";
import type { World } from "../operation.ts";
import { addressOf, isLoopback } from "../web/serve.ts";

/** Git merges trees without a checkout since this version. */
const oldestGit = [2, 38] as const;

export async function dependencies(world: World, survey: ProjectSurvey): Promise<readonly DoctorCheck[]> {
  const category = "dependencies" as const;
  const { taskTracker, sandbox } = await world.settings();
  const [gitVersion, tmux, bwrap] = await Promise.all([
    survey.versionOf("git", ["--version"]),
    survey.versionOf("tmux", ["-V"]),
    survey.versionOf("bwrap", ["--version"]),
  ]);
  const backend = String(taskTracker.backend);
  const trackers: Readonly<Record<string, string>> = { beads: "bd", seeds: "sd" };
  const program = trackers[backend];
  const tracker = program === undefined ? null : await survey.versionOf(program, ["--version"]);
  const git =
    gitVersion === null
      ? found("fail", {
          category,
          name: "git",
          message: "git is not installed",
          affects: "nothing works",
          next: "install git",
        })
      : passed(category, "git", gitVersion);
  const confined =
    sandbox.mode !== "os" || bwrap !== null
      ? passed(category, "bwrap", bwrap ?? "not installed, and not needed: sandbox.mode is not os")
      : found("warn", {
          category,
          name: "bwrap",
          message: "bubblewrap is not installed, and sandbox.mode is os",
          affects: "nothing confines agents",
          next: "install bubblewrap, or: ov config set sandbox.mode guard",
        });
  const ofTracker =
    program === undefined
      ? passed(category, "tracker", `tasks are kept by ov (taskTracker.backend ${backend})`)
      : tracker !== null
        ? passed(category, "tracker", `${program} ${tracker}`)
        : found("warn", {
            category,
            name: "tracker",
            message: `${program} is not installed, and taskTracker.backend is ${backend}`,
            affects: "tasks of that tracker cannot be read",
            next: `install ${program}, or: ov config set taskTracker.backend native`,
          });
  return [
    git,
    passed(category, "tmux", tmux ?? "not installed, and not needed: no runtime in use asks for it"),
    confined,
    ofTracker,
  ];
}

/** Companion tools of 0.11. None of them is needed. */
export const companions = [
  { name: "mulch", cli: "ml" },
  { name: "seeds", cli: "sd" },
  { name: "canopy", cli: "cn" },
] as const;

export async function ecosystem(_: World, survey: ProjectSurvey): Promise<readonly DoctorCheck[]> {
  return Promise.all(
    companions.map(async ({ name, cli }) => {
      const answer = await survey.versionOf(cli, ["--version"]);
      return passed(
        "ecosystem",
        name,
        answer === null ? `${cli} is not installed, and not needed` : `${cli} ${answer}`,
      );
    }),
  );
}

export async function providers(world: World, survey: ProjectSurvey): Promise<readonly DoctorCheck[]> {
  const category = "providers" as const;
  const [settings, shell] = [await world.settings(), await world.callerShell()];
  const gateways = Object.entries(settings.providers).filter(([, { type }]) => type === "gateway");
  if (gateways.length === 0)
    return [passed(category, "providers", "agents reach their models by themselves; no gateway is configured")];
  const all = await Promise.all(
    gateways.map(async ([name, { baseUrl, authTokenEnv }]): Promise<readonly DoctorCheck[]> => {
      const isThere = baseUrl !== undefined && (await survey.answers(baseUrl));
      const hasToken = authTokenEnv === undefined || (shell.variables[authTokenEnv] ?? "") !== "";
      return [
        isThere
          ? passed(category, `${name}-answers`, `${baseUrl} answers`)
          : found("warn", {
              category,
              name: `${name}-answers`,
              message: `${baseUrl ?? "no address"} does not answer`,
              affects: `agents with models of ${name} fail`,
              next: `ov config explain providers.${name}.baseUrl`,
            }),
        hasToken
          ? passed(category, `${name}-token`, `${authTokenEnv ?? "no variable"} is set`)
          : found("warn", {
              category,
              name: `${name}-token`,
              message: `${authTokenEnv} is not set in this shell`,
              affects: `agents that are started from here cannot use ${name}`,
              next: `export ${authTokenEnv}=<token>`,
            }),
      ];
    }),
  );
  return all.flat();
}

const mostReplaced = 3;

const namedObjects = (objects: readonly string[]): string => {
  const shown = objects.slice(0, mostReplaced).map((object) => object.slice(0, 12));
  const more = objects.length - shown.length;
  return more === 0 ? shown.join(", ") : `${shown.join(", ")} and ${more} more`;
};

export async function git(world: World, survey: ProjectSurvey): Promise<readonly DoctorCheck[]> {
  const category = "git" as const;
  const [health, programs] = await Promise.all([survey.git(), world.trustedPrograms()]);
  const [major = 0, minor = 0] = health.version.split(".").map(Number);
  const isNew = major > oldestGit[0] || (major === oldestGit[0] && minor >= oldestGit[1]);
  const filters = await programs.problems();
  return [
    isNew
      ? passed(category, "git-version", `git ${health.version}`)
      : found("fail", {
          category,
          name: "git-version",
          message: `git ${health.version} is older than ${oldestGit.join(".")}`,
          affects: "branches cannot be merged",
          next: "install a newer git",
        }),
    health.hasCommit
      ? passed(category, "commits", "the repository has commits")
      : found("warn", {
          category,
          name: "commits",
          message: "the repository has no commit",
          affects: "agents have nothing to start from",
          next: "git commit --allow-empty -m first",
        }),
    health.isBare
      ? found("fail", {
          category,
          name: "bare",
          message: "core.bare is set, so git takes this checkout for none",
          affects: "your own git refuses to work here, and nothing is promoted to the branch that is checked out",
          next: "git config core.bare false",
        })
      : passed(category, "bare", "git knows this checkout"),
    health.committer !== null
      ? passed(category, "identity", "git knows who commits")
      : found("warn", {
          category,
          name: "identity",
          message: "git does not know who commits",
          affects: "agents cannot commit, and nothing lands",
          next: "git config --global user.name <name>, and user.email",
        }),
    passed(
      category,
      "signing",
      health.signs ? "your commits are signed; those of agents are not" : "commits are not signed",
    ),
    passed(
      category,
      "hooks",
      health.hooks.length === 0 ? "no hook is installed" : `hooks: ${health.hooks.join(", ")} (ov trust list)`,
    ),
    health.replaced.length === 0
      ? passed(category, "replacements", "git shows every object as it is")
      : found("warn", {
          category,
          name: "replacements",
          message: `git shows other objects instead of ${namedObjects(health.replaced)} (git replace)`,
          affects: "your own git shows other content than what landed; ov itself reads what is stored",
          next: `look: git replace --list; to see what is stored again: git replace --delete ${health.replaced.length <= mostReplaced ? health.replaced.join(" ") : "<object>"}`,
        }),
    filters.length === 0
      ? passed(category, "attributes", "files are checked out as plain git does")
      : found("fail", {
          category,
          name: "attributes",
          message: `${filters.length} ${filters.length === 1 ? "filter" : "filters"} of this repository may not run`,
          affects: "files that go through them cannot be checked out, so no agent starts",
          next: "ov trust list",
        }),
  ];
}

export async function security(world: World, survey: ProjectSurvey): Promise<readonly DoctorCheck[]> {
  const category = "security" as const;
  const [{ sandbox }, tracked, own] = [
    await world.settings(),
    await survey.trackedSecrets(),
    await secretSetting(world),
  ];
  const { named } = tracked;
  return [
    sandbox.mode === "off"
      ? found("warn", {
          category,
          name: "sandbox",
          message: "sandbox.mode is off",
          affects: "nothing keeps agents from doing harm",
          next: "ov config set sandbox.mode guard",
        })
      : passed(category, "sandbox", `sandbox.mode is ${sandbox.mode}`),
    named.length === 0
      ? passed(category, "tracked-secrets", "no tracked file has the name of a key or a password file")
      : found("warn", {
          category,
          name: "tracked-secrets",
          message:
            named.length === 1
              ? "1 tracked file has the name of a secret"
              : `${named.length} tracked files have names of secrets`,
          details: named.slice(0, 20),
          affects: "every agent can read them, and every clone has them",
          next: "git rm --cached <file>, and add it to .gitignore",
        }),
    inFiles(tracked, own),
    await bindAddress(world),
  ];
}

const settingsFile = ".overstory/config.yaml";
const mostNamed = 20;

/** Where the shared settings have an address that is a secret, as `file:line`. */
async function secretSetting(world: World): Promise<string | undefined> {
  const found = await world.call("config.explain", { key: "notify.webhook" });
  if (!found.ok || typeof found.value.value !== "string" || !isSecretSetting(found.value.value)) return undefined;
  const { origin } = found.value;
  return origin.startsWith(`${settingsFile}:`) ? origin : undefined;
}

function inFiles({ lines, unread }: TrackedSecrets, own: string | undefined): DoctorCheck {
  const about = { category: "security", name: "secrets-in-files" } as const;
  const others = lines.map(({ path, line }) => `${path}:${line}`).filter((place) => place !== own);
  const places = own === undefined ? others : [own, ...others];
  const left = [
    ...(unread.tests === 0 ? [] : [`${unread.tests} of tests`]),
    ...(unread.large === 0 ? [] : [`${unread.large} too large`]),
    ...(unread.late === 0 ? [] : [`${unread.late} for want of time`]),
  ];
  const rest = left.length === 0 ? "" : `; files not looked at: ${left.join(", ")}`;
  if (places.length === 0)
    return passed(about.category, about.name, `no tracked text file has a key of a known shape${rest}`);
  const more = places.length - mostNamed;
  const [first = ""] = others.filter((place) => !place.startsWith(`${settingsFile}:`));
  const steps = [
    ...(own === undefined ? [] : [keepLocal("notify.webhook")]),
    ...(own === undefined && places.some((place) => place.startsWith(`${settingsFile}:`)) ? [keepLocal("<key>")] : []),
    ...(first === ""
      ? []
      : [
          `take the key out of the file, or: git rm --cached ${shellWord(first.replace(/:\d+$/, ""))}, and add it to .gitignore`,
        ]),
    "replace a key that was committed where it was made: the history of git keeps it",
  ];
  return found("warn", {
    ...about,
    message: `${places.length === 1 ? "1 line of a tracked file looks" : `${places.length} lines of tracked files look`} like a key or password${rest}`,
    details: [...places.slice(0, mostNamed), ...(more > 0 ? [`and ${more} more`] : [])],
    affects: "every agent can read them, and every clone has them",
    next: steps.join("; "),
  });
}

/** How a setting moves from the shared file to the one of this machine. */
const keepLocal = (key: string): string => `ov config set ${key} <value> --local && ov config unset ${key}`;

async function bindAddress(world: World): Promise<DoctorCheck> {
  const served = await servedAt(world);
  const about = { category: "security", name: "bind-address" } as const;
  const own = "the engine listens on a socket of this user alone";
  if (served === undefined) return passed(about.category, about.name, `${own}; nothing listens on a port`);
  if (isLoopback(served.host))
    return passed(about.category, about.name, `${own}, and for this machine alone at ${served.url}`);
  return found("warn", {
    ...about,
    message: `the page is served at ${served.host}:${served.port}; other machines can reach it`,
    affects: "only the login keeps others out, and nothing on the way is encrypted",
    next: "ov serve stop && ov serve --detach --host 127.0.0.1",
  });
}

export async function serve(world: World): Promise<readonly DoctorCheck[]> {
  const served = await servedAt(world);
  const words =
    served === undefined ? "the page is not served, and nothing needs it" : `the page is served at ${served.url}`;
  return [passed("serve", "serve", words)];
}

/** Where browsers are served; undefined where they are not. */
async function servedAt(world: World) {
  const engine = (await world.engineControl()).contact.notice();
  const read = engine === undefined ? undefined : await world.call("web.readListener", {});
  const listener = read?.ok === true ? read.value.listener : null;
  if (listener?.boundPort == null) return undefined;
  const { host, boundPort: port } = listener;
  return { host, port, url: addressOf(host, port) };
}

/** The same as `ov runtimes doctor`, where it is a failure that agents could not start. Here nothing is broken by it. */
export async function runtimes(world: World): Promise<readonly DoctorCheck[]> {
  const report = await world.call("runtime.doctor", { runtimes: [] });
  if (!report.ok) return [passed("runtimes", "runtimes", "they could not be looked at")];
  return report.value.findings
    .filter(({ level }) => level !== "info")
    .map(({ runtime, check, level, says, next }) => {
      const name = runtime === null ? check : `${runtime}-${check}`;
      if (level === "ok") return passed("runtimes", name, says);
      const affects = level === "bad" ? "agents with it do not start" : "agents with it may not start";
      return found("warn", { category: "runtimes", name, message: `${runtime ?? "agents"}: ${says}`, affects, next });
    });
}
