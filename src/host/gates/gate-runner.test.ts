import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { untilAsleep } from "../../../testkit/about-process.ts";
import { newRun } from "../../../testkit/gate-world.ts";
import type { Gate } from "../../domain/gate/gate.ts";
import type { ProcessIdentity } from "../../domain/process/process.ts";
import type { GateRequest } from "../../ports/gate-runner.ts";
import { linuxProcesses } from "../processes.ts";
import { logLimits } from "./gate-log.ts";
import { gateRunner } from "./gate-runner.ts";

const dir = mkdtempSync(join(tmpdir(), "ov-gates-"));
const started: ProcessIdentity[] = [];
const runner = gateRunner({ env: process.env, graceMs: 300 });

afterAll(async () => {
  for (const identity of started) await linuxProcesses.endTree(identity, 0);
  rmSync(dir, { recursive: true, force: true });
});

let files = 0;
const newFile = (): string => join(dir, `file-${files++}`);

const gateOf = (command: string, more: Partial<Gate> = {}): Gate => ({
  name: "Tests",
  command,
  timeoutMs: 50_000,
  required: true,
  paths: [],
  ...more,
});

function request(gate: Gate, more: Partial<GateRequest> = {}): GateRequest {
  return {
    run: newRun(),
    gate,
    cwd: dir,
    logPath: newFile(),
    env: {},
    environments: [],
    onStart: async (it) => void started.push(it),
    ...more,
  };
}

async function until(what: string, condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await Bun.sleep(5);
  }
}

const holdsPid = (file: string): boolean => existsSync(file) && readFileSync(file, "utf8").endsWith("\n");

/** The process whose pid a command wrote into this file. It was there: the command waits until it was written. */
function isGone(file: string): boolean {
  const identity = linuxProcesses.identify(Number(readFileSync(file, "utf8")));
  if (identity === undefined) return true;
  if (linuxProcesses.check(identity) === "gone") return true;
  started.push(identity);
  return false;
}

/** Shell text that waits until each of these files holds a pid. */
const waitFor = (...pids: readonly string[]): string =>
  pids.map((file) => `until [ -s '${file}' ]; do sleep 0.01; done`).join("; ");

describe("how a gate ends", () => {
  test("a command that answers zero has passed, and any other number is its failure", async () => {
    expect(await runner.run(request(gateOf("exit 0")))).toMatchObject({ status: "passed", exitCode: 0 });
    expect(await runner.run(request(gateOf("exit 3")))).toMatchObject({ status: "failed", exitCode: 3 });
    expect(await runner.run(request(gateOf("exit 125")))).toMatchObject({ status: "failed", exitCode: 125 });
  });

  test("a command that a signal ended has failed without a number", async () => {
    expect(await runner.run(request(gateOf("kill -SEGV $$")))).toMatchObject({ status: "failed", exitCode: null });
  });

  test("a command is text for a shell", async () => {
    const run = await runner.run(request(gateOf(`printf '%s|' "a  b" 'c' | tr c d && test -n "$HOME"`)));
    expect(run).toMatchObject({ status: "passed", tail: "a  b|d|" });
  });

  test("a command that does not exist could not be run, and the shell's words are in the log", async () => {
    const run = await runner.run(request(gateOf("no-such-program-at-all")));
    expect(run).toMatchObject({ status: "could_not_run", exitCode: 127 });
    expect(run.tail).toContain("no-such-program-at-all");
  });

  test("without its directory a command could not be run, and the log says why", async () => {
    let wasRecorded = false;
    const onStart = async (): Promise<void> => {
      wasRecorded = true;
    };
    const run = await runner.run(request(gateOf("true"), { cwd: join(dir, "nowhere"), onStart }));
    expect(run).toMatchObject({ status: "could_not_run", exitCode: null, durationMs: 0 });
    expect(run.tail).toContain("could not be started");
    expect(wasRecorded).toBe(false);
  });

  test("a command reads nothing: it cannot wait for a person", async () => {
    expect(await runner.run(request(gateOf("cat; read line || echo end")))).toMatchObject({ tail: "end\n" });
  });
});

describe("what a gate may not leave behind", () => {
  test("at the time limit its whole tree is ended, in other sessions and against its will too", async () => {
    const [own, away, orphan] = [newFile(), newFile(), newFile()];
    const stubborn = `trap "" TERM; echo $$ >"$0"; while :; do sleep 0.05; done`;
    const command = [
      `sh -c '${stubborn}' '${own}' &`,
      `setsid sh -c '${stubborn}' '${away}' &`,
      `(setsid sh -c '${stubborn}' '${orphan}' &)`,
      "wait",
    ].join("\n");
    // Enough for all of them to be there.
    const run = await runner.run(request(gateOf(command, { timeoutMs: 4_000 })));
    expect(run).toMatchObject({ status: "timed_out", exitCode: null });
    expect(run.durationMs).toBeGreaterThanOrEqual(3_990);
    expect([own, away, orphan].map(isGone)).toEqual([true, true, true]);
  });

  test("what runs on in the background when the command is done is ended, wherever it hides", async () => {
    const [own, away, bare, gone, low] = [newFile(), newFile(), newFile(), newFile(), newFile()];
    const hide = "setsid env -i /bin/sh -c";
    const command = [
      `sleep 60 & echo $! >'${own}'`,
      `(setsid sh -c 'echo $$ >"${away}"; exec sleep 60' &)`,
      `env -i /bin/sh -c 'echo $$ >"${bare}"; exec sleep 60' &`,
      `(${hide} 'echo $$ >"${gone}"; exec sleep 60' &)`,
      // A limit can be lowered by whoever has it, but then it is lower than anybody's.
      `(${hide} 'ulimit -x 5 2>/dev/null || ulimit -w 5; echo $$ >"${low}"; exec sleep 60' &)`,
      waitFor(away, bare, gone, low),
    ].join("\n");
    expect(await runner.run(request(gateOf(command)))).toMatchObject({ status: "passed" });
    expect([own, away, bare, gone, low].map(isGone)).toEqual([true, true, true, true, true]);
  });

  test("an aborted run rejects with the reason when all that it started is gone", async () => {
    const pid = newFile();
    const abort = new AbortController();
    const running = runner.run(
      request(gateOf(`setsid sh -c 'echo $$ >"${pid}"; exec sleep 60'`), { signal: abort.signal }),
    );
    const watched = running.catch((error: unknown) => error);
    await until("the command ran", () => holdsPid(pid));
    const reason = new Error("not needed any more");
    abort.abort(reason);
    expect(await watched).toBe(reason);
    expect(isGone(pid)).toBe(true);
  });

  test("a run that was aborted before does not start", async () => {
    const asked = request(gateOf("true"), { signal: AbortSignal.abort(new Error("never mind")) });
    await expect(runner.run(asked)).rejects.toThrow("never mind");
  });
});

describe("the process on record", () => {
  test("nothing of the command runs before its process is on record", async () => {
    const proof = newFile();
    let ranBefore = true;
    let leads = false;
    const onStart = async (identity: ProcessIdentity): Promise<void> => {
      // The process has come to its gate, where it sleeps until it is on record.
      await untilAsleep(identity.pid);
      ranBefore = existsSync(proof);
      leads = linuxProcesses.check(identity) === "alive";
    };
    const run = await runner.run(request(gateOf(`echo $$ >'${proof}'`), { onStart }));
    expect({ status: run.status, ranBefore, leads, ran: existsSync(proof) }).toEqual({
      status: "passed",
      ranBefore: false,
      leads: true,
      ran: true,
    });
  });

  test("the process on record is the command's own, leading its session", async () => {
    let recorded = 0;
    const onStart = async ({ pid }: ProcessIdentity): Promise<void> => {
      recorded = pid;
    };
    const run = await runner.run(request(gateOf("echo $$; ps -o sid= -p $$"), { onStart }));
    expect(run.tail.split("\n").map(Number)).toEqual([recorded, recorded, 0]);
  });

  test("what cannot be put on record does not run", async () => {
    const proof = newFile();
    let identity: ProcessIdentity | undefined;
    const onStart = async (it: ProcessIdentity): Promise<void> => {
      identity = it;
      throw new Error("the store is gone");
    };
    await expect(runner.run(request(gateOf(`touch '${proof}'`), { onStart }))).rejects.toThrow("the store is gone");
    await until("the held process left", () => identity !== undefined && linuxProcesses.check(identity) === "gone");
    expect(existsSync(proof)).toBe(false);
  });
});

describe("what a gate says", () => {
  test("the log holds every byte of both outputs in order, and the digest is that of the log", async () => {
    const asked = request(gateOf(`printf 'a\\000\\033[31m\\377\\n'; printf 'err\\r\\n' >&2; printf z`));
    const run = await runner.run(asked);
    const log = readFileSync(asked.logPath);
    expect(log).toEqual(Buffer.from("a\0\u001b[31m\xff\nerr\r\nz", "latin1"));
    expect(run.logDigest).toBe(new Bun.CryptoHasher("sha256").update(log).digest("hex"));
    expect(run.tail).toBe("a\0\u001b[31m\ufffd\nerr\nz");
    expect(statSync(asked.logPath).mode & 0o777).toBe(0o600);
  });

  test("much output is kept whole and does not hold the command up; the tail is its last 200 lines", async () => {
    const asked = request(gateOf("seq 1 300000"));
    const run = await runner.run(asked);
    expect(run.status).toBe("passed");
    const lines = readFileSync(asked.logPath, "utf8").trimEnd().split("\n");
    expect([lines.length, lines.at(-1)]).toEqual([300_000, "300000"]);
    expect(run.tail).toBe(`${lines.slice(-200).join("\n")}\n`);
  });

  test("a line without end does not make a tail without end", async () => {
    const run = await runner.run(request(gateOf("head -c 3000000 /dev/zero | tr '\\0' x")));
    expect(run.tail).toMatch(/^x{65536}$/);
  });

  test("a flood leaves its beginning, its end and how much is missing", async () => {
    const asked = request(gateOf("seq 1 2000000"));
    expect(await runner.run(asked)).toMatchObject({ status: "passed" });
    const log = readFileSync(asked.logPath, "utf8");
    expect(log.length).toBeLessThan(logLimits.head + logLimits.tail + 100);
    const [, head = "", left = "", tail = ""] =
      /^([^[]*)\[(\d+) bytes of output were left out here\]\n([\s\S]*)$/.exec(log) ?? [];
    const whole = Array.from({ length: 2_000_000 }, (_, at) => `${at + 1}\n`).join("");
    expect(head.length + Number(left) + tail.length).toBe(whole.length);
    expect([whole.startsWith(head), whole.endsWith(`\n${tail}`)]).toEqual([true, true]);
    expect(Math.min(head.length, tail.length)).toBeGreaterThan(logLimits.head - 128 * 1024);
  });

  test("secrets are in no log: known ones, and what looks like one, also when it comes in pieces", async () => {
    const environment = newFile();
    writeFileSync(environment, JSON.stringify({ OPENAI_API_KEY: "grüße-an-alle", LANG: "C" }));
    const command = [
      "printf 'a grüße-'; sleep 0.1; printf 'an-alle b\\n'",
      `printf 'ghp_%s' ${"a1".repeat(9)}; sleep 0.1; printf '%s\\n' ${"b2".repeat(9)}`,
      "printf -- '-----BEGIN PRIVATE KEY-----\\nAAAA\\n'; sleep 0.1; printf 'BBBB\\n-----END PRIVATE KEY-----\\nend\\n'",
    ].join("\n");
    const heard: string[] = [];
    const asked = request(gateOf(command), { environments: [environment], onOutput: (text) => void heard.push(text) });
    const run = await runner.run(asked);
    const expected = "a [REDACTED] b\n[REDACTED]\n[REDACTED]\nend\n";
    expect(run.tail).toBe(expected);
    expect(readFileSync(asked.logPath, "utf8")).toBe(expected);
    expect(heard.join("")).toBe(expected);
  });

  test("a command may open its outputs by name, and what it leaves behind holds nothing up", async () => {
    const run = await runner.run(request(gateOf("echo a >/dev/stdout; echo b | tee /dev/stderr; sleep 600 & echo c")));
    expect(run).toMatchObject({ status: "passed", tail: "a\nb\nb\nc\n" });
  });

  test("a lost process that still holds the output is no longer listened to", async () => {
    const [pid, stranger] = [newFile(), newFile()];
    const running = runner.run(request(gateOf(`echo $$ >'${pid}'; ${waitFor(stranger)}; echo said`)));
    await until("the command ran", () => holdsPid(pid));
    const holding = `exec sleep 600 >/proc/${readFileSync(pid, "utf8").trim()}/fd/1`;
    const outside = Bun.spawn({ cmd: ["/bin/sh", "-c", `echo $$ >'${stranger}'; ${holding}`], detached: true });
    expect(await running).toMatchObject({ status: "passed", tail: "said\n" });
    // Or else its end would have been waited for.
    expect(isGone(stranger)).toBe(false);
    outside.kill("SIGKILL");
  });

  test("an earlier log of that name is replaced, and a link in its place is not followed", async () => {
    const [logPath, victim] = [newFile(), newFile()];
    writeFileSync(logPath, "old\n");
    await runner.run(request(gateOf("echo new"), { logPath }));
    expect(readFileSync(logPath, "utf8")).toBe("new\n");
    writeFileSync(victim, "precious\n");
    const link = newFile();
    symlinkSync(victim, link);
    await expect(runner.run(request(gateOf("echo new"), { logPath: link }))).rejects.toThrow();
    expect(readFileSync(victim, "utf8")).toBe("precious\n");
  });

  test("a watcher hears whole lines while the command runs, with nothing a terminal would obey", async () => {
    const [go, heard]: [string, string[]] = [newFile(), []];
    const running = runner.run(
      request(gateOf(`printf 'one\\ntw'; ${waitFor(go)}; printf 'o \\033[2J\\nrest'`), {
        onOutput: (text) => void heard.push(text),
      }),
    );
    await until("the first line was heard", () => heard.length > 0);
    expect(heard).toEqual(["one\n"]);
    writeFileSync(go, "go\n");
    await running;
    expect(heard.join("")).toBe("one\ntwo \\u{1b}[2J\nrest");
  });

  test("a watcher of a flood is told what it does not hear", async () => {
    const heard: string[] = [];
    await runner.run(request(gateOf("seq 1 500000"), { onOutput: (text) => void heard.push(text) }));
    expect(heard.join("")).toMatch(/^\[\d+ bytes are only in the log\]$/m);
    expect(heard.join("").endsWith("\n499999\n500000\n")).toBe(true);
  });

  test("a watcher that fails makes the run fail, after the command is done with", async () => {
    const onOutput = (): void => {
      throw new Error("nobody listens");
    };
    await expect(runner.run(request(gateOf("echo a"), { onOutput }))).rejects.toThrow("nobody listens");
  });
});

test("a gate gets none of its caller's rights", async () => {
  const strict = gateRunner({
    env: { ...process.env, OVERSTORY_TOKEN: "t", ANTHROPIC_API_KEY: "k", BUN_OPTIONS: "", SSH_AUTH_SOCK: "/s" },
  });
  const run = await strict.run(
    request(gateOf("env -0 | tr '\\0\\n' '\\n '"), { env: { OVERSTORY_MERGE_HEAD: "abc" } }),
  );
  const names = run.tail.split("\n").map((line) => line.split("=")[0]);
  for (const name of ["HOME", "PATH", "CI", "OVERSTORY_GATE", "OVERSTORY_MERGE_HEAD"]) expect(names).toContain(name);
  for (const name of ["OVERSTORY_TOKEN", "ANTHROPIC_API_KEY", "BUN_OPTIONS", "SSH_AUTH_SOCK"]) {
    expect(names).not.toContain(name);
  }
});

test("a gate gets captured variables before our own, from the first existing file, and none of their secrets", async () => {
  const [gone, wanted, other] = [newFile(), newFile(), newFile()];
  const key = {
    ANTHROPIC_API_KEY: "not-for-gates",
    OVERSTORY_TOKEN: "nor-this",
    BUN_OPTIONS: "x",
    SSH_AUTH_SOCK: "/s",
  };
  writeFileSync(wanted, JSON.stringify({ ...key, CARGO_HOME: "/wanted/cargo", LANG: "xx", HTTP_PROXY: "http://p:1" }));
  writeFileSync(other, JSON.stringify({ CARGO_HOME: "/other/cargo", NVM_DIR: "/other/nvm" }));
  const own = gateRunner({ env: { PATH: process.env.PATH, LANG: "C", CARGO_HOME: "/own/cargo", GOPATH: "/own/go" } });
  const run = await own.run(request(gateOf("env"), { environments: [gone, wanted, other] }));
  const lines = run.tail.split("\n");
  for (const line of ["CARGO_HOME=/wanted/cargo", "LANG=xx", "HTTP_PROXY=http://p:1", "GOPATH=/own/go"]) {
    expect(lines).toContain(line);
  }
  const names = lines.map((line) => line.split("=")[0]);
  for (const name of [...Object.keys(key), "NVM_DIR"]) expect(names).not.toContain(name);
});
