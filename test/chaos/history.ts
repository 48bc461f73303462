import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Answer, processesBelow, type ScratchProject, signal } from "./scratch-project.ts";

/** What the driver knows itself and hands to the checker. */
export interface Knowledge {
  /** What happened, in order, for the report of a violation. */
  readonly log: string[];
  /** Names the operator asked for; some may not have got a seat. */
  readonly agents: string[];
  /** Commands that did not end in time, or printed something only a broken program prints. */
  readonly complaints: string[];
  /** Agents whose uncommitted files a fault deleted: nobody can promise those. */
  readonly excused: Set<string>;
  /** Messages the operator sent with success: token and recipient. */
  readonly sent: { token: string; to: string }[];
  /** Files of the user's checkout that are the user's own, with their content. */
  readonly usersFiles: Map<string, string>;
  /** Commits that the user made. */
  readonly usersCommits: Set<string>;
  checkedOut: string;
}

/** A random history: operator's commands, two or three at a time, and faults between and during them. */
export async function playHistory(project: ScratchProject, seed: number, steps: number): Promise<Knowledge> {
  const random = numbersFrom(seed);
  const world = new World(project, random);
  for (let step = 0; step < steps; step++) {
    const jobs: Promise<void>[] = [];
    for (let count = 1 + random.below(3); count > 0; count--) jobs.push(world.act());
    if (step > 0 && random.chance(0.6)) jobs.push(world.fault());
    await Promise.all(jobs);
    await Bun.sleep(random.below(700));
  }
  await world.endFaults();
  return world.knowledge;
}

/** Ends every agent, so that nothing stands in the way of a command that takes everything away. */
export async function stopAll(project: ScratchProject, { agents, log }: Knowledge): Promise<void> {
  for (const agent of agents) {
    const { code, err } = await project.ov(["stop", agent, "--force"]);
    if (code !== 0) log.push(`  at the end: ov stop ${agent} --force -> ${code}: ${err.slice(0, 200)}`);
  }
}

interface Random {
  below(limit: number): number;
  chance(share: number): boolean;
  pick<T>(list: readonly T[]): T | undefined;
}

/** The same numbers for the same seed (mulberry32). */
function numbersFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { below, chance: (share) => next() < share, pick: (list) => list[below(list.length)] };
}

type Job = readonly [weight: number, name: string, run: () => Promise<void>];

class World {
  readonly knowledge: Knowledge = {
    log: [],
    agents: [],
    complaints: [],
    excused: new Set(),
    sent: [],
    usersFiles: new Map(),
    usersCommits: new Set(),
    checkedOut: "main",
  };
  readonly #project: ScratchProject;
  readonly #random: Random;
  /** Lock files of ours that stand for another git at work. */
  readonly #locks = new Set<string>();
  readonly #stopped = new Set<number>();
  #count = 0;

  constructor(project: ScratchProject, random: Random) {
    this.#project = project;
    this.#random = random;
    const first = project.git(["rev-list", "--all"]).out.trim().split("\n");
    for (const commit of first) this.knowledge.usersCommits.add(commit);
  }

  act(): Promise<void> {
    return this.#choose(this.knowledge.agents.length < 2 ? [[1, "sling", () => this.#sling()]] : this.#acts());
  }

  fault(): Promise<void> {
    return this.#choose(this.#faults());
  }

  async endFaults(): Promise<void> {
    this.#project.disk?.makeRoom();
    for (const lock of this.#locks) rmSync(lock, { force: true });
    for (const pid of this.#stopped) signal(pid, "SIGCONT");
    // Engines that were started with another clock make room for one with the right clock.
    this.#project.clockOffsetMs = 0;
    await this.#project.ov(["engine", "stop"]);
  }

  #choose(jobs: readonly Job[]): Promise<void> {
    let at = this.#random.below(jobs.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, name, run] of jobs) {
      at -= weight;
      if (at < 0) {
        this.knowledge.log.push(name);
        return run();
      }
    }
    return Promise.resolve();
  }

  #acts(): readonly Job[] {
    const agent = this.#random.pick(this.knowledge.agents) ?? "a1";
    const on = (...words: string[]) => [words.join(" "), () => this.#ov(...words)] as const;
    return [
      [this.knowledge.agents.length < 6 ? 6 : 1, "sling", () => this.#sling()],
      [6, `mail to ${agent}`, () => this.#mail(agent)],
      [2, ...on("stop", agent)],
      [2, ...on("stop", agent, "--force")],
      [2, ...on("release", agent)],
      [3, ...on("recover", agent)],
      [1, ...on("recover", agent, "--fresh")],
      [1, ...on("pause", agent)],
      [2, ...on("resume", agent)],
      [1, ...on("nudge", agent, "go on")],
      [5, `merge the branch of ${agent}`, () => this.#mergeBranch(agent)],
      [2, ...on("merge", "--all")],
      [3, ...on("merge", "promote")],
      [1, ...on("merge", "undo", "--last", "--yes")],
      [2, ...on("worktree", "clean")],
      [1, ...on("worktree", "clean", "--force")],
      [1, ...on("clean", "--worktrees", "--branches", "--yes")],
      [1, ...on("inbox", "--peek")],
      [1, ...on("status")],
      [1, ...on("engine", "stop")],
      [1, "the user edits", async () => this.#userEdits()],
      [1, "the user commits", async () => this.#userCommits()],
      [1, "the user looks at another branch", async () => this.#userSwitches()],
    ];
  }

  #faults(): readonly Job[] {
    const { root } = this.#project;
    const git = join(root, ".git");
    const killed = (name: string, pattern: RegExp): Job => [3, `kill ${name}`, async () => this.#kill(pattern)];
    return [
      killed("engine", /engine run/),
      killed("supervisor", /turn run/),
      killed("agent", /stream-json/),
      killed("gate", /gate\.sh/),
      killed("anything", /./),
      [3, "stop a process for a while", () => this.#freeze()],
      [2, "index.lock", () => this.#lock(join(git, "index.lock"))],
      [1, "HEAD.lock", () => this.#lock(join(git, "HEAD.lock"))],
      [2, "lock of main", () => this.#lock(join(git, "refs", "heads", "main.lock"))],
      [1, "packed-refs.lock", () => this.#lock(join(git, "packed-refs.lock"))],
      [2, "disk full", () => this.#fillDisk()],
      // Git itself breaks a commit that is being made while everything unreachable is pruned; its manual warns of it.
      [1, "git gc", async () => void this.#project.git(["gc", "--quiet", "--prune=2.seconds.ago"])],
      [1, "moved clock", async () => this.#moveClock()],
      [1, "a worktree is deleted", async () => this.#deleteWorktree()],
      [1, "a worktree loses its link", async () => this.#unlinkWorktree()],
    ];
  }

  async #sling(): Promise<void> {
    const name = `${this.#random.chance(0.2) ? "crash" : "a"}${++this.#count}`;
    this.knowledge.agents.push(name);
    await this.#ov("sling", `Task of ${name}`, "--name", name);
  }

  async #mail(agent: string): Promise<void> {
    const token = `MAIL.operator.${++this.#count}.${this.#random.below(100_000)}`;
    const type = this.#random.chance(0.5) ? "question" : "status";
    const answer = await this.#run("mail", "send", "--to", agent, "--type", type, "--subject", "word", "--body", token);
    if (answer.code === 0) this.knowledge.sent.push({ token, to: agent });
  }

  async #mergeBranch(agent: string): Promise<void> {
    const found = this.#project.git(["for-each-ref", "--format=%(refname:short)", `refs/heads/overstory/${agent}/`]);
    const branch = found.out.split("\n")[0];
    if (branch === undefined || branch === "") return;
    const rest = this.#random.pick([[], ["--commit-rest"], ["--leave-rest"]]) ?? [];
    await this.#ov("merge", "--branch", branch, ...rest);
  }

  async #ov(...words: string[]): Promise<void> {
    await this.#run(...words);
  }

  async #run(...words: string[]): Promise<Answer> {
    const answer = await this.#project.ov(words);
    const said = `${answer.out}${answer.err}`.trim();
    this.knowledge.log.push(
      `  ov ${words.join(" ")} -> ${answer.code}${answer.code === 0 ? "" : `: ${said.slice(0, 300)}`}`,
    );
    if (answer.hung)
      this.knowledge.complaints.push(`ov ${words.join(" ")} did not end; it had said: ${said.slice(-300)}`);
    if (/\bat .*\.ts:\d+|TypeError|ReferenceError|panic\(/.test(said))
      this.knowledge.complaints.push(`ov ${words.join(" ")} broke: ${said.slice(0, 600)}`);
    return answer;
  }

  #userEdits(): void {
    const name = this.#random.pick(["user.txt", `mine-${this.#random.below(3)}.txt`]) ?? "user.txt";
    const text = `the user's own ${++this.#count}\n`;
    writeFileSync(join(this.#project.root, name), text);
    this.knowledge.usersFiles.set(name, text);
  }

  #userCommits(): void {
    if (this.knowledge.checkedOut !== "main") return;
    const name = `users-commit-${++this.#count}.txt`;
    writeFileSync(join(this.#project.root, name), "committed by the user\n");
    this.#project.git(["add", name]);
    const made = this.#project.git(["commit", "--quiet", "-m", name, "--", name]);
    if (made.code === 0) this.knowledge.usersCommits.add(this.#project.git(["rev-parse", "HEAD"]).out.trim());
    else {
      // A lock was in the way: take the file back, so that the checkout is as it was.
      this.#project.git(["rm", "--quiet", "--cached", "--ignore-unmatch", name]);
      rmSync(join(this.#project.root, name), { force: true });
    }
  }

  #userSwitches(): void {
    const to = this.knowledge.checkedOut === "main" ? "elsewhere" : "main";
    if (this.#project.git(["checkout", "--quiet", to]).code === 0) this.knowledge.checkedOut = to;
  }

  #kill(pattern: RegExp): void {
    const victim = this.#random.pick(processesBelow(this.#project.base).filter(({ words }) => pattern.test(words)));
    if (victim === undefined) return;
    this.knowledge.log.push(`  SIGKILL ${victim.words.slice(0, 80)}`);
    signal(victim.pid, "SIGKILL");
  }

  async #freeze(): Promise<void> {
    const victim = this.#random.pick(processesBelow(this.#project.base));
    if (victim === undefined) return;
    this.knowledge.log.push(`  SIGSTOP ${victim.words.slice(0, 80)}`);
    this.#stopped.add(victim.pid);
    signal(victim.pid, "SIGSTOP");
    await Bun.sleep(500 + this.#random.below(3_000));
    signal(victim.pid, "SIGCONT");
  }

  async #lock(path: string): Promise<void> {
    if (existsSync(path)) return;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "");
    this.#locks.add(path);
    await Bun.sleep(200 + this.#random.below(2_000));
    rmSync(path, { force: true });
  }

  async #fillDisk(): Promise<void> {
    if (this.#project.disk === undefined) return;
    this.#project.disk.fill();
    await Bun.sleep(200 + this.#random.below(1_500));
    this.#project.disk.makeRoom();
  }

  #moveClock(): void {
    this.#project.clockOffsetMs = (this.#random.below(7) - 3) * 3_600_000;
  }

  #deleteWorktree(): void {
    const agent = this.#anyWorktree();
    if (agent === undefined) return;
    this.knowledge.excused.add(agent);
    rmSync(join(this.#worktrees(), agent), { recursive: true, force: true });
  }

  #unlinkWorktree(): void {
    const agent = this.#anyWorktree();
    if (agent !== undefined) rmSync(join(this.#worktrees(), agent, ".git"), { force: true, recursive: true });
  }

  #anyWorktree(): string | undefined {
    const dir = this.#worktrees();
    const found = existsSync(dir) ? readdirSync(dir).filter((name) => this.knowledge.agents.includes(name)) : [];
    const agent = this.#random.pick(found);
    if (agent !== undefined) this.knowledge.log.push(`  worktree of ${agent}`);
    return agent;
  }

  #worktrees = (): string => join(this.#project.root, ".overstory", "worktrees");
}
