import { expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { turnFiles } from "./turn-files.ts";

function world(use: (place: { readonly state: string; readonly home: string; readonly turn: string }) => void): void {
  const dir = mkdtempSync(join(tmpdir(), "ov-turn-files-"));
  try {
    const place = { state: join(dir, "state"), home: join(dir, "home"), turn: join(dir, "state", "logs", "t1") };
    mkdirSync(place.home);
    use(place);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

test("the files of a plan are there before the agent starts, those of the turn anew each time", () =>
  world(({ state, home, turn }) => {
    const files = turnFiles(state);
    const settings = (text: string) => [{ in: "turn", path: "vendor/settings.json", text }] as const;
    files.create(turn, { input: "go\n", files: settings("{}") }, { home, input: "once" });
    files.create(turn, { input: "go\n", files: settings('{"a":1}') }, { home, input: "once" });
    expect(readFileSync(join(turn, "vendor/settings.json"), "utf8")).toBe('{"a":1}');
    expect(readFileSync(join(turn, "input.json"), "utf8")).toBe("go\n");
  }));

test("a file of the user's home is made where none is, and never replaced", () =>
  world(({ state, home, turn }) => {
    const files = turnFiles(state);
    const trust = [{ in: "home", path: ".vendor/trusted.json", text: "ours" }] as const;
    files.create(turn, { input: "", files: trust }, { home, input: "once" });
    expect(readFileSync(join(home, ".vendor/trusted.json"), "utf8")).toBe("ours");
    writeFileSync(join(home, ".vendor/trusted.json"), "the user's");
    files.create(turn, { input: "", files: trust }, { home, input: "once" });
    expect(readFileSync(join(home, ".vendor/trusted.json"), "utf8")).toBe("the user's");
  }));

test("a link leads to a place in the home, which is made if it is a directory, and nothing there is replaced", () =>
  world(({ state, home, turn }) => {
    const files = turnFiles(state);
    const links = [
      { in: "turn", path: "vendor/kept", to: ".vendor/kept", isDirectory: true },
      { in: "turn", path: "vendor/login.json", to: ".vendor/login.json", isDirectory: false },
    ] as const;
    for (const _ of ["first try", "second try"]) {
      files.create(turn, { input: "", files: links }, { home, input: "once" });
      writeFileSync(join(turn, "vendor/kept/session"), "said");
    }
    expect(readFileSync(join(home, ".vendor/kept/session"), "utf8")).toBe("said");
    expect(existsSync(join(turn, "vendor/login.json"))).toBe(false);
    writeFileSync(join(home, ".vendor/login.json"), "key");
    expect(readFileSync(join(turn, "vendor/login.json"), "utf8")).toBe("key");
    const outside = [{ in: "turn", path: "x", to: "../x", isDirectory: false }] as const;
    expect(() => files.create(turn, { input: "", files: outside }, { home, input: "once" })).toThrow("outside");
  }));

test("a plan cannot write outside of the two directories", () =>
  world(({ state, home, turn }) => {
    const outside = [{ in: "turn", path: "../../evil", text: "" }] as const;
    expect(() => turnFiles(state).create(turn, { input: "", files: outside }, { home, input: "once" })).toThrow(
      "lies outside",
    );
    expect(existsSync(join(state, "evil"))).toBe(false);
  }));

test("the mirror of a turn goes with that turn, and that of the next one stays", () =>
  world(({ state }) => {
    const files = turnFiles(state);
    const path = join(state, "agents", "b1", "turn.pid");
    mkdirSync(join(state, "agents", "b1"), { recursive: true });
    files.mirrorPid("b1", { pid: 1, startToken: "s", bootId: "b", turnId: "turn-2" });
    files.endMirror("b1", "turn-1");
    expect(existsSync(path)).toBe(true);
    files.endMirror("b1", "turn-2");
    files.endMirror("b1", "turn-2");
    expect(existsSync(path)).toBe(false);
  }));
