import { describe, expect, test } from "bun:test";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";

const landing = "overstory/integration/main";
const adds = (world: LandingWorld, name: string, path = `${name}.txt`, text = `${name}\n`): string =>
  world.branch(name, () => world.write(world.root, path, text));

describe("what cannot land", () => {
  test("a branch that is not there is named, and nothing else suffers", async () => {
    await using world = await landingWorld();
    adds(world, "a");
    const [missing, a] = [await world.enqueue("nowhere"), await world.enqueue("a")];
    await world.work();
    expect(await world.entry(missing)).toMatchObject({ status: "failed", cause: "missing_ref" });
    expect(await world.entry(a)).toMatchObject({ status: "merged" });
  });

  test("a history of its own is no history of ours", async () => {
    await using world = await landingWorld();
    world.git(world.root, "checkout", "--quiet", "--orphan", "alien");
    world.git(world.root, "commit", "--quiet", "--allow-empty", "-m", "alien");
    world.git(world.root, "checkout", "--quiet", "--force", "main");
    const id = await world.enqueue("alien");
    await world.work();
    expect(await world.entry(id)).toMatchObject({ status: "failed", cause: "no_common_history" });
  });

  test("two texts for one line need a decision; the target stays as it was", async () => {
    await using world = await landingWorld({ files: { "x.txt": "one\n" } });
    adds(world, "a", "x.txt", "two\n");
    adds(world, "b", "x.txt", "three\n");
    const [a, b] = [await world.enqueue("a"), await world.enqueue("b")];
    await world.work();
    expect(await world.entry(a)).toMatchObject({ status: "merged" });
    expect(await world.entry(b)).toMatchObject({
      status: "conflict",
      cause: "conflict",
      causeDetail: { files: ["x.txt"] },
    });
    expect(world.show(landing, "x.txt")).toBe("two");
  });

  test("bytes, links, deletions, modes and submodules are never settled by rule", async () => {
    await using world = await landingWorld({ files: { "b.bin": "\0one", "gone.txt": "a\nb\nc\n" } });
    const { root, git, write, branch } = world;
    const run = (...cmd: string[]): void => void Bun.spawnSync({ cmd, cwd: root });
    const submodule = (commit: string) => () =>
      git(root, "update-index", "--add", "--cacheinfo", `160000,${commit},sub`);
    /** Of each pair the first lands and the second is left to somebody, with the path that it is about. */
    const pairs = {
      "b.bin": [() => write(root, "b.bin", "\0two"), () => write(root, "b.bin", "\0three")],
      "gone.txt": [() => write(root, "gone.txt", "a\nb\nC\n"), () => git(root, "rm", "--quiet", "gone.txt")],
      link: [() => run("ln", "-s", "README.md", "link"), () => run("ln", "-s", "gone.txt", "link")],
      "run.sh": [
        () => write(root, "run.sh", "true\n"),
        () => {
          write(root, "run.sh", "false\n");
          run("chmod", "+x", "run.sh");
        },
      ],
      thing: [() => write(root, "thing", "file\n"), () => write(root, "thing/in.txt", "directory\n")],
    } as const;
    const ids: [string, number, number][] = [];
    for (const [path, [first, second]] of Object.entries(pairs)) {
      branch(`${path}-0`, () => void first());
      branch(`${path}-1`, () => void second());
      ids.push([path, await world.enqueue(`${path}-0`), await world.enqueue(`${path}-1`)]);
    }
    const [one, other] = [world.tip("main"), world.tip("link-0")];
    // A pointer lands only when the user has the commit.
    git(root, "clone", "--quiet", "--no-checkout", root, "sub");
    for (const [at, commit] of [one, other].entries()) {
      git(root, "checkout", "--quiet", "-b", `sub-${at}`, "main");
      submodule(commit)();
      git(root, "commit", "--quiet", "-m", "sub");
      git(root, "checkout", "--quiet", "main");
    }
    ids.push(["sub", await world.enqueue("sub-0"), await world.enqueue("sub-1")]);
    await world.work();
    for (const [path, first, second] of ids) {
      expect([path, (await world.entry(first)).status]).toEqual([path, "merged"]);
      const { status, cause, causeDetail } = await world.entry(second);
      expect([path, status, cause, causeDetail?.files]).toEqual([path, "conflict", "conflict", [path]]);
    }
    expect(world.show(landing, "gone.txt")).toBe("a\nb\nC");
    expect(world.show(landing, "run.sh")).toBe("true");
    expect(git(root, "ls-tree", landing, "sub")).toContain(one);
  });

  test("a hook's veto is final, and is not mistaken for a conflict", async () => {
    await using world = await landingWorld();
    world.hook("pre-merge-commit", "echo not on my watch; exit 1");
    adds(world, "a");
    const id = await world.enqueue("a");
    await world.work();
    expect(await world.entry(id)).toMatchObject({ status: "failed", cause: "hook_rejected" });
    expect((await world.entry(id)).causeDetail?.message).toContain("not on my watch");
  });

  test("a hook that refuses the message of our merge commit is no fault of the branch: the operator is told the ways on", async () => {
    await using world = await landingWorld();
    adds(world, "a");
    world.hook("commit-msg", 'grep -q "^JIRA-" "$1" || { echo no ticket in the message; exit 1; }');
    const id = await world.enqueue("a");
    await world.work();
    const { status, cause, causeDetail } = await world.entry(id);
    expect([status, cause]).toEqual(["blocked", "hook_rejected"]);
    expect(causeDetail?.message).toContain("no ticket in the message");
    expect(causeDetail?.message).toContain("ov config set merge.runGitHooks false");
    const mail = await world.store.read((tx) => tx.messages.list({ to: "operator" }));
    expect(mail.map(({ subject }) => subject)).toEqual(["merge blocked (a hook refused): a"]);
    expect(mail[0]?.body).toContain(`ov merge resume ${id}`);
  });

  test("a hook that nobody confirmed has no say, and the landing tells so", async () => {
    await using world = await landingWorld();
    world.hook("pre-merge-commit", `'${world.trap}' < /dev/null; exit 1`, { confirmed: false });
    adds(world, "a");
    const id = await world.enqueue("a");
    await world.work();
    expect(await world.entry(id)).toMatchObject({ status: "merged" });
    const [op] = await world.store.read((tx) => tx.mergeOps.list({}));
    expect(op?.request.gaps).toContainEqual(expect.stringContaining("ov trust add hook:pre-merge-commit"));
    expect(world.sprung()).toBe(false);
  });

  test("a branch that is in already is merged without being landed again", async () => {
    await using world = await landingWorld();
    adds(world, "a");
    await world.enqueue("a");
    await world.work();
    const tip = world.tip(landing);
    const again = await world.enqueue("a", { targetBranch: landing });
    await world.work();
    expect(await world.entry(again)).toMatchObject({ status: "merged" });
    expect(world.tip(landing)).toBe(tip);
  });
});
