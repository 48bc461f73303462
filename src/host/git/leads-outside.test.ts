import { describe, expect, test } from "bun:test";
import { appendFileSync, chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { worktreeSetting } from "../../../testkit/contracts/worktrees/world.ts";
import { expectGit, GitFailed } from "./git.ts";
import { gitWorktrees } from "./worktrees.ts";

const { seated } = worktreeSetting("clone", (root) => gitWorktrees(root));

/** A clone, and a repository that its agent may not read. */
async function besideASecret() {
  const scene = await seated();
  const { world, owned } = scene;
  const secret = join(world.root, "..", "secret");
  world.write(secret, "letter.txt", "hidden\n");
  world.git(secret, "init", "--quiet", "--initial-branch=main");
  world.git(secret, "add", "-A");
  world.git(secret, "commit", "--quiet", "-m", "hidden");
  const hidden = world.git(secret, "rev-parse", "HEAD");
  const gitDir = join(owned.path, ".git");
  return { ...scene, secret: join(secret, ".git"), hidden, gitDir };
}

type Scene = Awaited<ReturnType<typeof besideASecret>>;

const linkObjects = ({ secret, gitDir }: Scene): void => {
  for (const name of readdirSync(join(secret, "objects")).filter((one) => one.length === 2)) {
    rmSync(join(gitDir, "objects", name), { recursive: true, force: true });
    symlinkSync(join(secret, "objects", name), join(gitDir, "objects", name));
  }
};

const plantings: Readonly<Record<string, (scene: Scene) => void>> = {
  "links among its objects": (scene) => {
    linkObjects(scene);
    writeFileSync(join(scene.gitDir, "refs/heads", scene.owned.branch), `${scene.hidden}\n`);
  },
  "a link in the place of its branch": (scene) => {
    const branch = join(scene.gitDir, "refs/heads", scene.owned.branch);
    rmSync(branch);
    symlinkSync(join(scene.secret, "refs/heads/main"), branch);
  },
  "a link in the place of packed-refs": ({ world, gitDir }) => {
    world.write(world.root, "../.pgpass", "host:5432:db:me:hidden\n");
    symlinkSync(join(world.root, "../.pgpass"), join(gitDir, "packed-refs"));
  },
  "other alternates": ({ secret, gitDir }) => {
    const alternates = join(gitDir, "objects/info/alternates");
    chmodSync(alternates, 0o644);
    appendFileSync(alternates, `${secret}/objects\n`);
  },
  "quoted alternates": ({ secret, gitDir }) => {
    const alternates = join(gitDir, "objects/info/alternates");
    chmodSync(alternates, 0o644);
    appendFileSync(alternates, `"${secret}/objects"\n`);
  },
  "alternates by a link in the worktree": ({ owned, secret, gitDir }) => {
    symlinkSync(secret, join(owned.path, "way"));
    const alternates = join(gitDir, "objects/info/alternates");
    chmodSync(alternates, 0o644);
    appendFileSync(alternates, `${owned.path}/way/objects\n`);
  },
  "a submodule behind a file": ({ world, owned, secret, hidden }) => {
    world.write(owned.path, "sub/.git", `gitdir: ${secret}\n`);
    world.git(owned.path, "update-index", "--add", "--cacheinfo", `160000,${hidden.replace(/^./, "0")},sub`);
  },
  "a submodule behind a link": ({ world, owned, secret, hidden }) => {
    mkdirSync(join(owned.path, "sub"));
    symlinkSync(secret, join(owned.path, "sub/.git"));
    world.git(owned.path, "update-index", "--add", "--cacheinfo", `160000,${hidden.replace(/^./, "0")},sub`);
  },
  "a submodule whose refs are elsewhere": ({ world, owned, secret, hidden }) => {
    world.write(owned.path, "sub/.git/HEAD", "ref: refs/heads/main\n");
    world.write(owned.path, "sub/.git/commondir", `${secret}\n`);
    world.git(owned.path, "update-index", "--add", "--cacheinfo", `160000,${hidden.replace(/^./, "0")},sub`);
  },
};

describe("a clone that leads git to another repository is refused, and stays", () => {
  test.each(Object.entries(plantings))("%s", async (_, plant) => {
    using scene = await besideASecret();
    const { world, worktrees, owned, hidden } = scene;
    scene.commit("mine.txt", "mine\n");
    await worktrees.collect(owned);
    world.write(owned.path, "draft.txt", "draft\n");
    plant(scene);
    const before = world.git(world.root, "for-each-ref");
    const refusal = { data: { kind: "worktree-damaged", problem: expect.stringContaining("; remove it: rm ") } };
    for (const act of ["collect", "inspect", "snapshot", "rescue", "unsettled"] as const) {
      const answer: unknown = await worktrees[act](owned).catch((error: unknown) => error);
      expect(answer).toMatchObject(refusal);
      expect(String(answer)).not.toContain("hidden");
    }
    expect(await worktrees.remove(owned, { deleteBranch: null })).toMatchObject({ removed: false });
    expect(world.read(owned.path, "draft.txt")).toBe("draft\n");
    expect(world.git(world.root, "for-each-ref")).toBe(before);
    expect(() => world.git(world.root, "cat-file", "-e", hidden)).toThrow();
  });

  test("no turn begins in it", async () => {
    using scene = await besideASecret();
    linkObjects(scene);
    expect(await scene.worktrees.ensureLink(scene.owned)).toMatchObject({
      kind: "broken",
      problem: expect.stringContaining("is a symbolic link, which git would follow"),
    });
  });

  test("one with packed refs, packed objects and an own submodule is sound", async () => {
    using scene = await besideASecret();
    const { world, worktrees, owned } = scene;
    const commit = scene.commit("mine.txt", "mine\n");
    world.git(owned.path, "gc", "--quiet");
    world.write(owned.path, "sub/inner.txt", "inner\n");
    mkdirSync(join(owned.path, ".git/modules"));
    world.git(join(owned.path, "sub"), "init", "--quiet", "--separate-git-dir", join(owned.path, ".git/modules/sub"));
    world.git(join(owned.path, "sub"), "add", "-A");
    world.git(join(owned.path, "sub"), "commit", "--quiet", "-m", "inner");
    world.git(owned.path, "add", "sub");
    await worktrees.collect(owned);
    expect(world.git(world.root, "rev-parse", owned.branch)).toBe(commit);
    expect(await worktrees.ensureLink(owned)).toEqual({ kind: "sound" });
    expect(await worktrees.inspect(owned)).toMatchObject({ dirty: true, ahead: 1 });
  });
});

test("an error of git is passed on without the line of the file that it quotes", () => {
  const refuse = (err: string): string => {
    try {
      expectGit({ code: 128, out: "", raw: Buffer.alloc(0), err, isLate: false }, "listing");
    } catch (error) {
      if (error instanceof GitFailed) return error.message;
    }
    return "";
  };
  expect(refuse("fatal: unexpected line in .git/packed-refs: host:5432:db:me:hidden\n")).toBe(
    "listing: git exited 128: fatal: unexpected line in .git/packed-refs",
  );
  expect(refuse("fatal: unterminated line in .git/packed-refs: hidden")).not.toContain("hidden");
  expect(refuse("fatal: not a git repository: /x")).toContain("not a git repository: /x");
});

describe("an agent that swaps its directories for links while git of ours reads them", () => {
  /** Runs git with the links in place, and has them away again when the next look comes. */
  const swapped = (gitDir: string, secret: string): readonly string[] => {
    const script = `cd "${gitDir}/objects" || exit 9
for at in ??; do [ -d "$at" ] && mv "$at" "kept.$at"; done
for at in "${secret}/objects"/??; do ln -s "$at" .; done
"$@"; code=$?
rm -f ??; for at in kept.*; do [ -d "$at" ] && mv "$at" "\${at#kept.}"; done
exit $code`;
    return ["/bin/sh", "-c", script, "swapping"];
  };

  const brought = async (confined: boolean): Promise<boolean> => {
    let swap: ((reads: readonly string[], scratch: string) => readonly string[]) | undefined;
    const setting = worktreeSetting("clone", (root) =>
      gitWorktrees(root, { confine: (reads, scratch) => swap?.(reads, scratch) }),
    );
    const { world, owned, worktrees } = await setting.seated();
    const secret = join(world.root, "..", "secret");
    world.write(secret, "letter.txt", "hidden\n");
    world.git(secret, "init", "--quiet", "--initial-branch=main");
    world.git(secret, "add", "-A");
    world.git(secret, "commit", "--quiet", "-m", "hidden");
    const hidden = world.git(secret, "rev-parse", "HEAD");
    const gitDir = join(owned.path, ".git");
    writeFileSync(join(gitDir, "refs/heads", owned.branch), `${hidden}\n`);
    swap = (reads, scratch) => [
      ...swapped(gitDir, join(secret, ".git")),
      ...(confined ? ["bwrap", "--dev-bind", "/", "/", "--tmpfs", secret] : []),
      ...(confined ? [...reads, scratch].flatMap((path) => ["--bind", path, path]) : []),
    ];
    const failed = await worktrees.collect(owned).then(
      () => "",
      (error: unknown) => String(error),
    );
    expect(failed).toMatch(confined ? hidden : /^$/);
    const asked = Bun.spawnSync(["git", "cat-file", "-e", hidden], { cwd: world.root, stderr: "ignore" });
    return asked.exitCode === 0;
  };

  test("would bring a hidden repository, and brings nothing where git sees what the agent sees", async () => {
    expect(await brought(false)).toBe(true);
    if (Bun.which("bwrap") !== null) expect(await brought(true)).toBe(false);
  });
});
