import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ovBinary } from "../../testkit/ov.ts";
import { canMount, mountSmallDisk, type SmallDisk } from "../../testkit/small-disk.ts";

export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** It had to be killed because it did not end in time. */
  readonly hung: boolean;
}

/**
 * A repository with scripted agents, on a disk of its own where that is possible. `ledgers` lies outside the repository:
 * agents and gates note there what they have really done, so that the checker need not believe the program.
 */
export interface ScratchProject extends AsyncDisposable {
  readonly base: string;
  readonly root: string;
  readonly ledgers: string;
  readonly disk: SmallDisk | undefined;
  /** Moves the wall clock of every process started from now on. */
  clockOffsetMs: number;
  ov(args: readonly string[], timeoutMs?: number): Promise<Answer>;
  git(args: readonly string[], cwd?: string): Answer;
  /** The lines of a ledger; a line that was cut off by a kill or a full disk does not count. */
  ledger(name: string): string[];
}

export async function makeScratchProject(seed: number): Promise<ScratchProject> {
  const disk = canMount() ? mountSmallDisk(400) : undefined;
  const base = realpathSync(disk?.dir ?? mkdtempSync(join(tmpdir(), "ov-chaos-")));
  // The ledgers stay outside the small disk: a full one must not hide what was done.
  const ledgers = realpathSync(mkdtempSync(join(tmpdir(), "ov-chaos-ledgers-")));
  const [root, home] = [join(base, "repo"), join(base, "home")];
  for (const dir of [root, home, join(base, "state")]) mkdirSync(dir);
  const scenario = join(ledgers, "scenario.yaml");
  writeFileSync(join(ledgers, "agent.sh"), agentScript(ledgers, seed));
  writeFileSync(join(ledgers, "gate.sh"), gateScript(ledgers));
  chmodSync(join(ledgers, "gate.sh"), 0o755);
  writeFileSync(
    scenario,
    [
      `- when: { agent: "crash*", attempt: 1 }`,
      `  do:`,
      `    - shell: "sh ${ledgers}/agent.sh work"`,
      `    - exit: 137`,
      `- do:`,
      `    - shell: "sh ${ledgers}/agent.sh work"`,
      `      allowFail: true`,
      `    - shell: "sh ${ledgers}/agent.sh finish"`,
      `      allowFail: true`,
      "",
    ].join("\n"),
  );
  writeFileSync(
    join(home, ".gitconfig"),
    "[user]\n\tname = Test\n\temail = test@example.invalid\n[core]\n\tlogAllRefUpdates = always\n[gc]\n\tauto = 0\n",
  );
  const environment = {
    PATH: process.env.PATH ?? "/usr/bin:/bin",
    HOME: home,
    TMPDIR: base,
    OVERSTORY_SCENARIO: scenario,
    OVERSTORY_SCENARIO_STATE: join(base, "state"),
  };
  const project: ScratchProject = {
    base,
    root,
    ledgers,
    disk,
    clockOffsetMs: 0,
    ov: (args, timeoutMs = 120_000) =>
      run([ovBinary(), ...args], root, timeoutMs, {
        ...environment,
        OVERSTORY_TEST_CLOCK_OFFSET_MS: String(project.clockOffsetMs),
      }),
    git: (args, cwd = root) => {
      const child = Bun.spawnSync(["git", ...args], { cwd, env: environment, maxBuffer: 1 << 28 });
      return { code: child.exitCode, out: child.stdout.toString(), err: child.stderr.toString(), hung: false };
    },
    ledger: (name) => {
      const file = join(ledgers, name);
      return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
    },
    [Symbol.asyncDispose]: async () => {
      await endProcesses(base);
      if (disk === undefined) rmSync(base, { recursive: true, force: true });
      else disk[Symbol.dispose]();
      rmSync(ledgers, { recursive: true, force: true });
    },
  };
  await firstCommits(project);
  return project;
}

async function firstCommits(project: ScratchProject): Promise<void> {
  const { root, ledgers } = project;
  const git = (...args: string[]): void => {
    const { code, err } = project.git(args);
    if (code !== 0) throw new Error(`git ${args.join(" ")}: ${err}`);
  };
  git("init", "--quiet", "--initial-branch=main");
  for (const name of ["README.md", "user.txt", "shared.txt"]) writeFileSync(join(root, name), `${name}, first\n`);
  writeFileSync(join(root, ".gitignore"), "ignored/\n");
  git("add", "-A");
  git("commit", "--quiet", "-m", "first");
  git("branch", "elsewhere");
  const ready = await project.ov(["init", "--no-instructions"]);
  if (ready.code !== 0) throw new Error(`ov init: ${ready.out}${ready.err}`);
  const config = join(root, ".overstory", "config.yaml");
  writeFileSync(config, withSettings(readFileSync(config, "utf8"), `sh ${ledgers}/gate.sh`));
  git("add", "-A");
  git("commit", "--quiet", "-m", "settings");
}

/** Replaces what `ov init` found out by what the histories need; everything else stays as a user has it. */
function withSettings(text: string, gate: string): string {
  const document = Bun.YAML.parse(text) as Record<string, Record<string, unknown>>;
  document.project = {
    ...document.project,
    canonicalBranch: "main",
    qualityGates: [{ name: "check", command: gate }],
  };
  document.runtime = { ...document.runtime, default: "scripted" };
  document.engine = { ...document.engine, idleExitMs: 500 };
  return Bun.YAML.stringify(document, null, 2);
}

/**
 * What every agent does in a turn. It plants a string of its own in files and notes it in the ledger *afterwards*, so that
 * the ledger never says more than happened. What is chosen follows from the seed, the agent's name and its turn.
 */
const agentScript = (ledgers: string, seed: number): string => `
set -u
me=$OVERSTORY_AGENT_NAME
count=${ledgers}/count-$me
[ "$1" = work ] && echo . >> "$count"
turn=$(wc -l < "$count")
dice() { echo $(( $(printf '%s' "${seed}-$me-$turn-$1" | cksum | cut -d' ' -f1) % $2 )); }
plant() { # kind, file
  token="PLANT.$me.$turn.$(dice "$1" 100000).$$.$1"
  printf '%s\\n' "$token" >> "$2" && sync -d "$2" 2>/dev/null; grep -qF "$token" "$2" && echo "$1 $me $token" >> ${ledgers}/planted
}
commit() {
  # An agent that cannot commit goes on without: the strings it planted are uncommitted then.
  git add -A && git commit --quiet -m "turn $turn of $me" && echo "$me $(git rev-parse HEAD)" >> ${ledgers}/commits
}
say() { # recipient, type
  token="MAIL.$me.$turn.$(dice "$1" 100000).$$"
  ov mail send --to "$1" --type "$2" --subject "word of $me" --body "$token" >/dev/null 2>&1 && echo "$me $1 $token" >> ${ledgers}/mail
}
if [ "$1" = work ]; then
  mkdir -p ignored "work-$me"
  plant commit "work-$me/done.txt"
  [ "$(dice shared 3)" = 0 ] && echo "line of $me" >> shared.txt
  [ "$(dice broken 6)" = 0 ] && echo broken > BROKEN
  commit
  sleep "0.$(dice nap 9)"
  plant dirty "work-$me/done.txt"
  plant untracked "work-$me/notes-$turn.txt"
  sleep "0.$(dice nap2 9)"
  [ "$(dice report 2)" = 0 ] && say operator status
  [ "$(dice second 2)" = 0 ] && { plant commit "work-$me/more.txt"; commit; plant untracked "work-$me/late-$turn.txt"; }
  exit 0
fi
case $(dice end 6) in
  0) say operator question ;;
  1) ;;
  2) git add -A; git commit --quiet -m "rest of $me"; ov mail send --to operator --type worker_done --subject done --body done ;;
  *) git add -A; git commit --quiet -m "rest of $me"; ov done --summary "work of $me" ;;
esac
`;

/** Notes the content of the tree it runs on and its verdict: the only proof of a gate run that the checker accepts. */
const gateScript = (ledgers: string): string => `#!/bin/sh
set -u
sum=$(${contentSum})
[ -n "$sum" ] || exit 9
sleep 0.1
if [ -e BROKEN ]; then echo "$sum fail" >> ${ledgers}/gates; exit 1; fi
echo "$sum pass" >> ${ledgers}/gates
`;

/** One number for all files of the current directory, names and content, without git's own and ignored ones. */
export const contentSum =
  "find . \\( -name .git -o -name ignored -o -name node_modules \\) -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha1sum | sha1sum | cut -d' ' -f1";

async function run(
  cmd: readonly string[],
  cwd: string,
  timeoutMs: number,
  env: Readonly<Record<string, string>>,
): Promise<Answer> {
  const child = Bun.spawn({ cmd: [...cmd], cwd, env: { ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    child.kill("SIGKILL");
  }, timeoutMs);
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  clearTimeout(timer);
  return { code: child.exitCode ?? 137, out, err, hung };
}

/** Processes that work below this directory, with their command lines. */
export function processesBelow(base: string): { pid: number; words: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        if (!readFileSync(`/proc/${name}/environ`, "utf8").includes(`${base}/`)) return [];
        const words = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        return words === "" ? [] : [{ pid: Number(name), words }];
      } catch {
        // It ended while we looked.
        return [];
      }
    });
}

/** Sends a signal to a process that may have ended meanwhile. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended: nothing is left to signal.
  }
}

async function endProcesses(base: string): Promise<void> {
  for (let round = 0; round < 20; round++) {
    const left = processesBelow(base);
    if (left.length === 0) return;
    for (const { pid } of left) signal(pid, "SIGKILL");
    await Bun.sleep(50);
  }
}
