import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { untilAsleep } from "../../../../testkit/about-process.ts";
import { newRun } from "../../../../testkit/gate-world.ts";
import { type GitMergeWorld, gitMergeWorld } from "../../../../testkit/git-merge-world.ts";
import type { HookVeto } from "../../../ports/merge-git.ts";
import { allProcesses, entryOf } from "../../linux/process-table.ts";

/** Runs with another home directory, and so with another user's configuration. */
async function asUser<T>(world: GitMergeWorld, config: string, work: () => Promise<T>): Promise<T> {
  const home = join(world.root, "..", "user");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, ".gitconfig"), config);
  const before = process.env.HOME;
  process.env.HOME = home;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env.HOME;
    else process.env.HOME = before;
  }
}

const request = async ({ merging, tip }: GitMergeWorld) => ({
  tree: await merging.treeOf(tip("main")),
  parents: [tip("main")],
  message: "merge: überall\n\nOverstory-Task: t-1\n",
});

describe("a commit", () => {
  test("has the message, parents and the user's name as given", async () => {
    using world = gitMergeWorld();
    await asUser(world, "[user]\n\tname = Ada L\n\temail = ada@example.invalid\n", async () => {
      const wanted = await request(world);
      const side = world.branch("side", () => world.write(world.root, "s", "s\n"));
      const commit = await world.merging.commit({ ...wanted, parents: [world.tip("main"), side] });
      const shown = world.git(world.root, "show", "-s", "--format=%an %ae %cn %ce|%P|%B", commit);
      const user = "Ada L ada@example.invalid";
      expect(`${shown}\n`).toBe(`${user} ${user}|${world.tip("main")} ${side}|${wanted.message}`);
    });
  });

  test("is ours when git does not know the user", async () => {
    using world = gitMergeWorld();
    await asUser(world, "", async () => {
      const commit = await world.merging.commit(await request(world));
      expect(world.git(world.root, "show", "-s", "--format=%an <%ae>", commit)).toBe("Overstory <overstory@localhost>");
    });
  });

  test("is signed when the user signs, by the program of the user", async () => {
    using world = gitMergeWorld();
    const signer = script(world, "signer", "cat > /dev/null; echo '[GNUPG:] SIG_CREATED ' >&2; echo SIGNATURE");
    const config = `[user]\n\tname = A\n\temail = a@b\n\tsigningKey = K\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${signer}\n`;
    await asUser(world, config, async () => {
      // An agent can write this one.
      world.git(world.root, "config", "commit.gpgSign", "false");
      world.git(world.root, "config", "user.signingKey", "another");
      const commit = await world.merging.commit(await request(world));
      expect(world.git(world.root, "cat-file", "commit", commit)).toContain("gpgsig SIGNATURE");
    });
  });

  test("whose signing program asks for something is given up by name, and nothing of it stays", async () => {
    using world = gitMergeWorld({ signingLimitMs: 1_000 });
    const pid = join(world.root, "..", "pid");
    const asks = script(world, "asks", `sh -c 'echo $$ > "${pid}"; exec sleep 600' & wait`);
    await asUser(world, `[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${asks}\n`, async () => {
      await expect(world.merging.commit(await request(world))).rejects.toThrow("waited for a word");
    });
    // The killed program may need a moment to die.
    while (!(entryOf(Number(readFileSync(pid, "utf8")))?.defunct ?? true)) await Bun.sleep(5);
  });

  test("is never signed by a program that the repository names", async () => {
    using world = gitMergeWorld();
    const trapped = script(world, "trapped", `'${world.trap}' < /dev/null`);
    world.git(world.root, "config", "gpg.program", trapped);
    world.git(world.root, "config", "gpg.openpgp.program", trapped);
    world.git(world.root, "config", "gpg.ssh.defaultKeyCommand", trapped);
    await asUser(world, "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = false\n", async () => {
      await expect(world.merging.commit(await request(world))).rejects.toThrow("could not be signed");
    });
    expect(world.sprung()).toBe(false);
  });

  test("is made without a signature when only the repository asks for one, and in the name of the user", async () => {
    using world = gitMergeWorld();
    const signer = script(world, "signer", `'${world.trap}' < /dev/null`);
    world.git(world.root, "config", "commit.gpgSign", "true");
    world.git(world.root, "config", "user.signingKey", "planted");
    world.git(world.root, "config", "user.name", "");
    await asUser(world, `[user]\n\tname = A\n\temail = a@b\n[gpg]\n\tprogram = ${signer}\n`, async () => {
      const commit = await world.merging.commit(await request(world));
      expect(world.git(world.root, "cat-file", "commit", commit)).not.toContain("gpgsig");
      expect(world.git(world.root, "show", "-s", "--format=%an <%ae>", commit)).toBe("A <a@b>");
    });
    expect(world.sprung()).toBe(false);
  });
});

describe("the project's hooks on a candidate", () => {
  const record = async (): Promise<() => Promise<void>> => async () => {};

  test("are on record before they run, until everything they started has ended", async () => {
    using world = gitMergeWorld();
    const seen = join(world.root, "..", "seen");
    world.hook("pre-merge-commit", `echo hook >> '${seen}'; (sleep 60; echo late >> '${seen}') &`);
    const { path } = await world.merging.checkOut(0, world.tip("main"));
    const recorded: number[] = [];
    const running = world.merging.runHooks({
      checkout: path,
      message: "m\n",
      newRun,
      record: async ({ pid }) => {
        // The process has come to its gate, where it sleeps until it is on record.
        await untilAsleep(pid);
        if (recorded.length === 0) expect(existsSync(seen)).toBe(false);
        recorded.push(pid);
        return async () => {
          expect(allProcesses().filter(({ session, defunct }) => session === pid && !defunct)).toEqual([]);
          recorded.push(-pid);
        };
      },
    });
    expect(await running).toBeUndefined();
    expect(readFileSync(seen, "utf8")).toBe("hook\n");
    expect(recorded).toHaveLength(2);
  });

  test("pass in silence, and see the candidate, its message and no token of ours", async () => {
    using world = gitMergeWorld();
    const seen = join(world.root, "..", "seen");
    world.hook("pre-merge-commit", `{ pwd; git rev-parse HEAD; env; } > '${seen}'`);
    world.hook("commit-msg", `cat "$1" >> '${seen}'`);
    const { path } = await world.merging.checkOut(0, world.tip("main"));
    process.env.OVERSTORY_TOKEN = "very-secret";
    try {
      expect(
        await world.merging.runHooks({ checkout: path, message: "the message\n", newRun, record }),
      ).toBeUndefined();
    } finally {
      delete process.env.OVERSTORY_TOKEN;
    }
    const text = readFileSync(seen, "utf8");
    expect(text).toStartWith(`${path}\n${world.tip("main")}\n`);
    expect(text).toContain("the message\n");
    expect(text).not.toContain("very-secret");
  });

  for (const name of ["pre-merge-commit", "commit-msg"] as const) {
    test(`a veto of ${name} is answered in its words`, async () => {
      using world = gitMergeWorld();
      world.hook(name, "echo 'not like this' >&2; exit 3");
      const { path } = await world.merging.checkOut(0, world.tip("main"));
      expect(await world.merging.hooks()).toEqual({ trusted: [name], unconfirmed: [] });
      const veto = await world.merging.runHooks({ checkout: path, message: "m\n", newRun, record });
      expect(veto).toEqual({ hook: name, words: "exited 3: not like this" });
    });
  }

  test("without any there is no veto", async () => {
    using world = gitMergeWorld();
    world.hook("post-merge", "exit 1");
    world.hook("commit-msg.sample", "exit 1");
    expect(await world.merging.hooks()).toEqual({ trusted: [], unconfirmed: [] });
    const { path } = await world.merging.checkOut(0, world.tip("main"));
    expect(await world.merging.runHooks({ checkout: path, message: "m\n", newRun, record })).toBeUndefined();
  });

  test("are those of the project's own checkout, not those of the candidate", async () => {
    using world = gitMergeWorld();
    world.git(world.root, "config", "core.hooksPath", ".husky");
    const bad = world.branch("bad", () => {
      world.write(world.root, ".husky/pre-merge-commit", `#!/bin/sh\n'${world.trap}' < /dev/null\n`);
      chmodSync(join(world.root, ".husky/pre-merge-commit"), 0o755);
    });
    world.hook("commit-msg", "echo from the project; exit 1", { dir: ".husky" });
    const { path } = await world.merging.checkOut(0, bad);
    const veto = await world.merging.runHooks({ checkout: path, message: "m\n", newRun, record });
    expect(veto?.words).toContain("from the project");
    expect(world.sprung()).toBe(false);
  });

  test("there are none where core.hooksPath leads through a plain file, or the directory is a link to itself", async () => {
    using world = gitMergeWorld();
    world.git(world.root, "config", "core.hooksPath", "/dev/null");
    expect(await world.merging.hooks()).toEqual({ trusted: [], unconfirmed: [] });
    const { path } = await world.merging.checkOut(0, world.tip("main"));
    expect(await world.merging.runHooks({ checkout: path, message: "m\n", newRun, record })).toBeUndefined();
    world.git(world.root, "config", "core.hooksPath", join(world.root, "..", "loop"));
    symlinkSync("loop", join(world.root, "..", "loop"));
    expect(await world.merging.hooks()).toEqual({ trusted: [], unconfirmed: [] });
  });

  test("one that nobody confirmed, or that was changed since, or that a planted core.hooksPath shows, is not run", async () => {
    using world = gitMergeWorld();
    const { path } = await world.merging.checkOut(0, world.tip("main"));
    const run = (): Promise<HookVeto | undefined> =>
      world.merging.runHooks({ checkout: path, message: "m\n", newRun, record });
    world.hook("pre-merge-commit", `exec '${world.trap}' < /dev/null`, { confirmed: false });
    world.hook("commit-msg", "exit 0");
    world.hook("commit-msg", `exec '${world.trap}' < /dev/null`, { confirmed: false });
    expect(await run()).toBeUndefined();
    world.hook("commit-msg", `exec '${world.trap}' < /dev/null`, { dir: "planted", confirmed: false });
    world.git(world.root, "config", "core.hooksPath", join(world.root, "planted"));
    expect(await world.merging.hooks()).toEqual({ trusted: [], unconfirmed: ["commit-msg"] });
    expect(await run()).toBeUndefined();
    expect(world.sprung()).toBe(false);
  });

  test("one that does not end is ended, with everything it started", async () => {
    // Long enough for it to begin, wherever it is run.
    using world = gitMergeWorld({ hookLimitMs: 3_000 });
    const pids = join(world.root, "..", "pids");
    world.hook("pre-merge-commit", `echo $$ >> '${pids}'; setsid sleep 60 & echo $! >> '${pids}'; sleep 60`);
    const { path } = await world.merging.checkOut(0, world.tip("main"));
    const veto = await world.merging.runHooks({ checkout: path, message: "m\n", newRun, record });
    expect(veto?.words).toContain("took longer than 3000 ms");
    const started = readFileSync(pids, "utf8").trim().split("\n");
    expect(started).toHaveLength(2);
    for (const pid of started) expect(entryOf(Number(pid))?.defunct ?? true).toBe(true);
  });
});

function script(world: GitMergeWorld, name: string, body: string): string {
  const path = join(world.root, "..", name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}
