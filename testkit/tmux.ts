import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { TestProject } from "./project.ts";

/** A tmux server of its own with one window, in which one command line runs. Disposing of it ends both. */
export class Tmux implements Disposable {
  static #count = 0;
  readonly #socket = `ov-test-${process.pid}-${Tmux.#count++}-${Date.now()}`;
  readonly #project: TestProject;

  constructor(project: TestProject, size: readonly [columns: number, rows: number], command: string) {
    this.#project = project;
    const [columns, rows] = size;
    this.#run("-f", "/dev/null", "new-session", "-d", "-x", `${columns}`, "-y", `${rows}`, command);
    this.#run("set-option", "-g", "remain-on-exit", "on");
  }

  #run(...args: readonly string[]): string {
    const { HOME, PATH } = this.#project.env;
    const env = { ...this.#project.env, HOME, PATH, TERM: "xterm-256color", LC_ALL: "C.UTF-8" };
    const ran = spawnSync("tmux", ["-L", this.#socket, ...args], { cwd: this.#project.root, env, encoding: "utf8" });
    if (ran.status !== 0) throw new Error(`tmux ${args.join(" ")}: ${ran.stderr}`);
    return ran.stdout;
  }

  press(...keys: readonly string[]): void {
    this.#run("send-keys", ...keys);
  }

  type(text: string): void {
    this.#run("send-keys", "-l", text);
  }

  paste(text: string): void {
    this.#run("set-buffer", text);
    this.#run("paste-buffer", "-p");
  }

  resize(columns: number, rows: number): void {
    this.#run("resize-window", "-x", `${columns}`, "-y", `${rows}`);
  }

  /** The lines on the screen; what differs from run to run is masked. */
  screen(): readonly string[] {
    return this.#run("capture-pane", "-p")
      .trimEnd()
      .split("\n")
      .map((line) => masked(line.trimEnd()));
  }

  async until(what: string, isThere: (lines: readonly string[]) => boolean): Promise<readonly string[]> {
    let lines: readonly string[] = [];
    await this.#project
      .until(what, async () => {
        lines = this.screen();
        return isThere(lines);
      })
      .catch((error: unknown) => {
        throw new Error(`${error}\n${lines.join("\n")}`);
      });
    return lines;
  }

  showing(text: string): Promise<readonly string[]> {
    return this.until(`the screen shows ${text}`, (lines) => lines.some((line) => line.includes(text)));
  }

  /**
   * Waits until the whole screen is what this file holds. Lines of events are compared in the order of their letters:
   * an agent's output and its commands reach the database side by side. UPDATE_SCREENS=1 writes the files anew.
   */
  async shows(file: string): Promise<void> {
    const textOf = (lines: readonly string[]): string => `${sortedEvents(lines).join("\n")}\n`;
    if (process.env.UPDATE_SCREENS === "1") {
      writeFileSync(file, textOf(await this.#atRest()));
      return;
    }
    const wanted = existsSync(file) ? readFileSync(file, "utf8") : "";
    await this.until(`the screen is that of ${file}`, (lines) => textOf(lines) === wanted);
  }

  /** The screen that has not changed for a while. */
  async #atRest(): Promise<readonly string[]> {
    for (let last = this.screen(); ; ) {
      await Bun.sleep(1_500);
      const next = this.screen();
      if (next.join("\n") === last.join("\n")) return next;
      last = next;
    }
  }

  [Symbol.dispose](): void {
    spawnSync("tmux", ["-L", this.#socket, "kill-server"]);
  }
}

/** Times, ages, ids, directories. Where a column follows, the mask is as wide as what it stands for. */
const masks: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  [/\d\d:\d\d:\d\d/g, "HH:MM:SS"],
  [/\b\d+[smh] ago( +(?=\S))?/g, (found) => (found.endsWith(" ") ? "AGE " : "AGE")],
  [/, (\d+ms|\d+\.\ds)$/g, ", TIME"],
  [/\brun-[a-z0-9]+/g, (found) => `run-${"x".repeat(found.length - 4)}`],
  [/\bmsg-[a-z0-9]{12}\b/g, "msg-xxxxxxxxxxxx"],
  // How much of an id is left at the end of a line depends on how wide the age before it is.
  [/\b(m|ms|msg|msg-[a-z0-9]*)…$/g, "ID…"],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "UUID"],
  [/\b[0-9a-f]{12}\b/g, "COMMIT"],
  [/ \/\S+/g, " PATH"],
];

const masked = (line: string): string =>
  masks.reduce(
    (text, [what, mask]) => (typeof mask === "string" ? text.replace(what, mask) : text.replace(what, mask)),
    line,
  );

/** The lines, each block of events among them sorted. */
function sortedEvents(lines: readonly string[]): readonly string[] {
  const isEvent = (line: string | undefined): boolean => line?.startsWith("HH:MM:SS ") ?? false;
  const blocks = lines.reduce<string[][]>((found, line) => {
    const last = found.at(-1);
    if (last !== undefined && isEvent(last[0]) && isEvent(line)) last.push(line);
    else found.push([line]);
    return found;
  }, []);
  return blocks.flatMap((block) => block.toSorted());
}
