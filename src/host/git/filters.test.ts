import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requestFor } from "../../../testkit/contracts/worktrees/world.ts";
import { gitMergeWorld } from "../../../testkit/git-merge-world.ts";
import type { FilterDefinition } from "../../domain/trust/filters.ts";
import { readTrust, writeTrust } from "../trust-file.ts";
import { fileRules } from "./filters.ts";
import { gitMerging } from "./merging.ts";
import { openRepository } from "./repository.ts";
import { gitWorktrees } from "./worktrees.ts";

/** Letters go round by thirteen. */
const rot = { clean: "tr a-zA-Z n-za-mN-ZA-M", smudge: "tr a-zA-Z n-za-mN-ZA-M" };
/** Every byte is turned over and a zero byte and a mark are put in front, as a program that encrypts would. */
const crypt = {
  clean: `perl -e 'binmode STDIN; binmode STDOUT; local $/; my $x = <STDIN>; $x = "" unless defined $x; print $x =~ /^\\0CRYPT/ ? $x : "\\0CRYPT" . ($x ^ ("\\xff" x length $x))'`,
  smudge: `perl -e 'binmode STDIN; binmode STDOUT; local $/; my $x = <STDIN>; $x =~ s/^\\0CRYPT//s or die "no key"; print $x ^ ("\\xff" x length $x)'`,
  required: "true",
};

function filterWorld(options: {
  readonly files: Readonly<Record<string, string>>;
  readonly filters?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly config?: Readonly<Record<string, string>>;
}) {
  const world = gitMergeWorld({ files: { "plain.txt": "plain\n" } });
  const { trust } = world;
  for (const [name, keys] of Object.entries(options.filters ?? {}))
    for (const [key, value] of Object.entries(keys)) world.git(world.root, "config", `filter.${name}.${key}`, value);
  for (const [key, value] of Object.entries(options.config ?? {})) world.git(world.root, "config", key, value);
  for (const [path, text] of Object.entries(options.files)) world.write(world.root, path, text);
  world.git(world.root, "add", "-A");
  world.git(world.root, "commit", "--quiet", "-m", "filtered files");
  // As git itself would check it out, which is what counts.
  world.git(world.root, "rm", "-r", "--quiet", "--cached", ".");
  for (const name of readdirSync(world.root)) if (name !== ".git") rmSync(join(world.root, name));
  world.git(world.root, "reset", "--quiet", "--hard");
  const confirm = (...names: readonly string[]): void => {
    const pins = Object.entries(options.filters ?? {}).filter(([name]) => names.includes(name));
    const filters = Object.fromEntries(
      pins.map(([name, { clean = null, smudge = null, process = null, required = null }]) => {
        return [name, { clean, smudge, process, required } satisfies FilterDefinition];
      }),
    );
    writeTrust(trust, { ...readTrust(trust), filters });
  };
  /** Attributes and settings of the repository, as they are now. */
  const confirmAttributes = async (): Promise<void> => {
    const { shape } = await fileRules(await openRepository(world.root)());
    writeTrust(trust, { ...readTrust(trust), attributes: { [shape.key]: shape.digest ?? "" } });
  };
  return {
    ...world,
    trust,
    confirm,
    confirmAttributes,
    worktrees: gitWorktrees(world.root),
    merging: gitMerging(world.root, { poolDir: world.pool, scratch: world.scratch }),
  };
}

const all = (dir: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(dir)
      .filter((name) => ![".git", ".overstory"].includes(name))
      .map((name) => [name, readFileSync(join(dir, name)).toString("latin1")]),
  );

const table = {
  "a filter that turns letters": {
    files: { "a.rot": "Hello\n", ".gitattributes": "*.rot filter=rot\n" },
    filters: { rot },
  },
  "a required filter that makes bytes of it, as one that encrypts": {
    files: { "a.key": "secret\r\n\u00ff", ".gitattributes": "*.key filter=crypt diff=crypt\n" },
    filters: { crypt },
  },
  "text=auto with line ends of another system": {
    files: { "a.txt": "one\ntwo\n", ".gitattributes": "* text=auto\n" },
    config: { "core.eol": "crlf" },
  },
  "eol=crlf": { files: { "a.bat": "one\ntwo\n", ".gitattributes": "*.bat text eol=crlf\n" } },
  "core.autocrlf": { files: { "a.txt": "one\ntwo\n" }, config: { "core.autocrlf": "true" } },
  "another encoding and an ident": {
    files: {
      "a.utf": "h\u00e4",
      ".gitattributes": "*.utf working-tree-encoding=UTF-8\n*.id ident\n",
      "b.id": "$Id$\n",
    },
  },
} as const;

describe("files come out as with plain git", () => {
  for (const [what, options] of Object.entries(table)) {
    for (const kind of ["linked", "clone"] as const) {
      test(`${what}, in a ${kind} worktree`, async () => {
        using world = filterWorld(options);
        world.confirm("rot", "crypt");
        await world.confirmAttributes();
        const { worktrees } = world;
        const owned = world.worktree("ann", kind);
        expect(await worktrees.create(requestFor(owned))).toMatchObject({ ok: true });
        expect(all(owned.path)).toEqual(all(world.root));
        expect(world.git(owned.path, "status", "--porcelain")).toBe("");
        // Touched and looked at again, by us and by plain git.
        for (const name of readdirSync(owned.path)) if (name !== ".git") utimesSync(join(owned.path, name), 1, 1);
        expect(await worktrees.inspect(owned)).toMatchObject({ dirty: false, files: [] });
        expect(await worktrees.snapshot(owned)).toBeUndefined();
        expect(world.git(owned.path, "status", "--porcelain")).toBe("");
        // What the agent adds is what anybody else would have added.
        for (const name of readdirSync(owned.path)) {
          if (/^[ab]\./.test(name)) writeFileSync(join(owned.path, name), "new words\r\n");
        }
        world.git(owned.path, "add", "-A");
        const index = world.git(owned.path, "ls-files", "--stage");
        for (const name of readdirSync(world.root)) {
          if (/^[ab]\./.test(name)) writeFileSync(join(world.root, name), "new words\r\n");
        }
        world.git(world.root, "add", "-A", "--", ":!.overstory");
        expect(index).toBe(world.git(world.root, "ls-files", "--stage"));
      });
    }

    test(`${what}, in a place of the gate pool, again and again`, async () => {
      using world = filterWorld(options);
      world.confirm("rot", "crypt");
      await world.confirmAttributes();
      const { merging } = world;
      const next = world.branch("next", () => world.write(world.root, "plain.txt", "changed\n"));
      for (const commit of [world.tip("main"), next, world.tip("main")]) {
        const { path } = await merging.checkOut(0, commit);
        const { "plain.txt": _, ...here } = all(path);
        const { "plain.txt": __, ...there } = all(world.root);
        expect(here).toEqual(there);
        expect(world.git(path, "status", "--porcelain")).toBe("");
        for (const name of readdirSync(path)) if (name !== ".git") writeFileSync(join(path, name), "by a gate\n");
      }
    });

    test(`${what}: a snapshot holds the bytes, what is compared holds what git would add`, async () => {
      using world = filterWorld(options);
      world.confirm("rot", "crypt");
      await world.confirmAttributes();
      const { worktrees } = world;
      const owned = world.worktree("ann", "linked");
      await worktrees.create(requestFor(owned));
      const names = readdirSync(owned.path).filter((name) => /^[ab]\./.test(name));
      for (const name of names) writeFileSync(join(owned.path, name), "new words\r\n");
      const snapshot = await worktrees.snapshot(owned);
      const saved = await worktrees.saveForLooking(owned);
      world.git(owned.path, "add", "-A");
      for (const name of names) {
        const blob = Bun.spawnSync({
          cmd: ["git", "cat-file", "blob", `${snapshot?.commit}:${name}`],
          cwd: world.root,
        });
        expect(blob.stdout.toString()).toBe("new words\r\n");
        expect(world.git(world.root, "rev-parse", `${saved?.commit}:${name}`)).toBe(
          world.git(owned.path, "rev-parse", `:${name}`),
        );
      }
    });
  }
});

for (const [what, options] of Object.entries(table)) {
  test(`${what}: work that was kept comes back byte for byte`, async () => {
    using world = filterWorld(options);
    world.confirm("rot", "crypt");
    await world.confirmAttributes();
    const { worktrees } = world;
    const owned = world.worktree("ann", "linked");
    await worktrees.create(requestFor(owned));
    const names = readdirSync(owned.path).filter((name) => /^[ab]\./.test(name));
    for (const name of names) writeFileSync(join(owned.path, name), `changed ${name}\r\nby the agent\n`);
    writeFileSync(join(owned.path, `new.${names[0]}`), "brand new\r\n");
    const before = all(owned.path);
    const status = world.git(owned.path, "status", "--porcelain");
    await worktrees.snapshot(owned);
    expect(await worktrees.remove(owned, { deleteBranch: null })).toMatchObject({ removed: true });
    await worktrees.intendRestore(requestFor(owned));
    await worktrees.create(requestFor(owned));
    await worktrees.restore(owned);
    expect(all(owned.path)).toEqual(before);
    expect(world.git(owned.path, "status", "--porcelain")).toBe(status);
  });
}

for (const variable of ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"]) {
  test(`a filter of the configuration in ${variable} runs without being confirmed`, async () => {
    using world = filterWorld({ files: table["a filter that turns letters"].files });
    const settings = join(world.root, "..", "settings");
    writeFileSync(settings, `[filter "rot"]\n\tclean = ${rot.clean}\n\tsmudge = ${rot.smudge}\n`);
    const before = { [variable]: process.env[variable], GIT_CONFIG_NOSYSTEM: process.env.GIT_CONFIG_NOSYSTEM };
    Object.assign(process.env, { [variable]: settings, GIT_CONFIG_NOSYSTEM: "0" });
    try {
      const owned = world.worktree("ann", "linked");
      expect(await world.worktrees.create(requestFor(owned))).toMatchObject({ ok: true });
      const { path } = await world.merging.checkOut(0, world.tip("main"));
      for (const dir of [owned.path, path]) expect(readFileSync(join(dir, "a.rot"), "utf8")).toBe("Uryyb\n");
    } finally {
      for (const [name, value] of Object.entries(before)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });
}

describe("a filter of the repository", () => {
  const options = table["a filter that turns letters"];

  test("is refused by name before anything is there, until it was confirmed", async () => {
    using world = filterWorld(options);
    const owned = world.worktree("ann", "linked");
    const refused = await world.worktrees.create(requestFor(owned));
    expect(refused).toMatchObject({ ok: false, refusal: { problem: expect.stringContaining("ov trust add rot") } });
    expect(existsSync(owned.path)).toBe(false);
    expect(world.git(world.root, "branch", "--list", owned.branch)).toBe("");
    await expect(world.merging.checkOut(0, world.tip("main"))).rejects.toThrow('filter "rot"');
    world.confirm("rot");
    expect(await world.worktrees.create(requestFor(owned))).toMatchObject({ ok: true });
  });

  test("that was changed after it was confirmed is refused again", async () => {
    using world = filterWorld(options);
    world.confirm("rot");
    world.git(world.root, "config", "filter.rot.smudge", `${world.trap}`);
    const refused = await world.worktrees.create(requestFor(world.worktree("ann", "linked")));
    expect(refused).toMatchObject({ ok: false, refusal: { problem: expect.stringContaining("has changed") } });
    expect(world.sprung()).toBe(false);
  });

  test("that a worktree's own configuration or an included file adds is the repository's", async () => {
    using world = filterWorld({ files: { "a.x": "x\n" } });
    world.write(world.root, ".gitattributes", "*.x filter=x\n");
    world.git(world.root, "add", "-A");
    world.git(world.root, "commit", "--quiet", "-m", "rule");
    world.git(world.root, "config", "extensions.worktreeConfig", "true");
    world.git(world.root, "config", "--worktree", "filter.x.smudge", world.trap);
    writeFileSync(join(world.root, "..", "included"), `[filter "x"]\n\tclean = ${world.trap}\n`);
    world.git(world.root, "config", "includeIf.gitdir:**.path", join(world.root, "..", "included"));
    const refused = await world.worktrees.create(requestFor(world.worktree("ann", "linked")));
    expect(refused).toMatchObject({ ok: false, refusal: { problem: expect.stringContaining("not confirmed") } });
    expect(world.sprung()).toBe(false);
  });

  test("that no attribute names is no matter, and never runs", async () => {
    using world = filterWorld({ files: { "a.x": "x\n" }, filters: { x: { smudge: "false", required: "true" } } });
    expect(await world.worktrees.create(requestFor(world.worktree("ann", "linked")))).toMatchObject({ ok: true });
  });

  test("that is defined nowhere is refused, unless it was confirmed that there is none", async () => {
    using world = filterWorld({ files: { "a.x": "x\n", ".gitattributes": "*.x filter=gone\n" } });
    const owned = world.worktree("ann", "linked");
    const refused = await world.worktrees.create(requestFor(owned));
    expect(refused).toMatchObject({ ok: false, refusal: { problem: expect.stringContaining("defined nowhere") } });
    writeTrust(world.trust, { filters: { gone: null }, hooks: {} });
    expect(await world.worktrees.create(requestFor(owned))).toMatchObject({ ok: true });
  });

  test("whose program is not installed is refused by name", async () => {
    using world = filterWorld({
      files: { "a.x": "x\n" },
      filters: { x: { clean: "no-such-program-here %f", smudge: "no-such-program-here %f" } },
    });
    world.confirm("x");
    world.write(world.root, ".gitattributes", "*.x filter=x\n");
    world.git(world.root, "add", ".gitattributes");
    world.git(world.root, "commit", "--quiet", "-m", "rule");
    const refused = await world.worktrees.create(requestFor(world.worktree("ann", "linked")));
    expect(refused).toMatchObject({ ok: false, refusal: { problem: expect.stringContaining("is not installed") } });
  });

  test("that fails does not keep work from being kept", async () => {
    using world = filterWorld(options);
    world.confirm("rot");
    const owned = world.worktree("ann", "linked");
    await world.worktrees.create(requestFor(owned));
    world.write(owned.path, "a.rot", "precious\n");
    world.git(world.root, "config", "filter.rot.clean", "exit 1");
    world.git(world.root, "config", "filter.rot.required", "true");
    writeTrust(world.trust, {
      filters: { rot: { clean: "exit 1", smudge: rot.smudge, process: null, required: "true" } },
      hooks: {},
    });
    const snapshot = await world.worktrees.snapshot(owned);
    expect(world.show(snapshot?.commit ?? "", "a.rot")).toBe("precious");
    expect(await world.worktrees.inspect(owned)).toMatchObject({ dirty: true });
  });
});

test("attributes that differ from machine to machine count too: info/attributes", async () => {
  using world = filterWorld({ files: { "a.rot": "Hello\n" }, filters: { rot } });
  writeFileSync(join(world.root, ".git", "info", "attributes"), "*.rot filter=rot\n");
  world.write(world.root, "a.rot", "Uryyb\n");
  world.git(world.root, "add", "a.rot");
  world.confirm("rot");
  await world.confirmAttributes();
  const owned = world.worktree("ann", "linked");
  await world.worktrees.create(requestFor(owned));
  expect(world.read(owned.path, "a.rot")).toBe("Uryyb\n");
  expect(world.git(owned.path, "status", "--porcelain")).toBe("");
});

describe("what agents could change about how files look waits for the operator", () => {
  const changes: Readonly<Record<string, (root: string, git: (...args: string[]) => string) => void>> = {
    "info/attributes": (root) =>
      writeFileSync(join(root, ".git", "info", "attributes"), "plain.txt working-tree-encoding=UTF-16LE\n"),
    "core.attributesFile of the repository": (root, git) => {
      writeFileSync(join(root, ".git", "mine"), "plain.txt working-tree-encoding=UTF-16LE\n");
      git("config", "core.attributesFile", join(root, ".git", "mine"));
    },
    "core.autocrlf of the repository": (_, git) => git("config", "core.autocrlf", "true"),
    "core.eol of the repository": (_, git) => git("config", "core.eol", "crlf"),
    "core.symlinks of the repository": (_, git) => git("config", "core.symlinks", "false"),
  };
  for (const [what, change] of Object.entries(changes)) {
    test(what, async () => {
      using world = filterWorld({ files: { "a.txt": "one\n", ".gitattributes": "*.txt text=auto\n" } });
      const { merging } = world;
      const main = world.tip("main");
      const form = await merging.formOfFiles();
      expect(await merging.checkOut(0, main)).toMatchObject({ form });
      change(world.root, (...args) => world.git(world.root, ...args));
      // What was proved under other rules does not count, and nothing is proved under these.
      expect(await merging.formOfFiles()).not.toBe(form);
      await expect(merging.checkOut(0, main)).rejects.toThrow("ov trust add git:attributes");
      expect(await merging.filterProblem(main)).toContain(join(world.root, ".git"));
      await world.confirmAttributes();
      const confirmed = await merging.checkOut(0, main);
      expect(confirmed.form).toBe(await merging.formOfFiles());
      writeFileSync(join(world.root, ".git", "info", "attributes"), "plain.txt ident\n");
      await expect(merging.checkOut(0, main)).rejects.toThrow("ov trust add git:attributes");
    });
  }

  test("a comment in info/attributes says nothing, and one that goes is a change", async () => {
    using world = filterWorld({ files: { "x.txt": "x\n" } });
    const main = world.tip("main");
    const path = join(world.root, ".git", "info", "attributes");
    writeFileSync(path, "# nothing\n\n");
    await world.merging.checkOut(0, main);
    writeFileSync(path, "*.txt -text\n");
    await world.confirmAttributes();
    await world.merging.checkOut(0, main);
    rmSync(path);
    await expect(world.merging.checkOut(0, main)).rejects.toThrow("ov trust add git:attributes");
  });
});

describe("committing what an agent left, where a filter may not run", () => {
  async function left(attributes: "committed" | "uncommitted") {
    const filters = { rot };
    const files = attributes === "committed" ? { ".gitattributes": "*.rot filter=rot\n", "a.rot": "abc\n" } : {};
    const world = filterWorld({ files: { "b.txt": "b\n", ...files }, filters });
    if (attributes === "committed") world.confirm("rot");
    const { worktrees } = world;
    const place = {
      agentName: "ann",
      generation: 1,
      kind: "linked",
      branch: "overstory/ann/t",
      baseCommit: null,
    } as const;
    const owned = { ...place, path: join(world.root, ".overstory", "worktrees", "ann") };
    const seat = await worktrees.create(requestFor(owned));
    if (!seat.ok) throw new Error(seat.refusal.problem);
    writeFileSync(join(owned.path, "new.rot"), "plain\n");
    return { world, worktrees, owned, tip: () => world.git(world.root, "rev-parse", owned.branch) };
  }

  test("its command changed since it was confirmed: refused by name, and nothing is committed", async () => {
    const { world, worktrees, owned, tip } = await left("committed");
    using _ = world;
    world.git(world.root, "config", "filter.rot.clean", "cat");
    const before = tip();
    await expect(worktrees.whyNotCommitRest(owned)).rejects.toThrow("rot");
    await expect(worktrees.commitRest(owned, "rest")).rejects.toThrow("rot");
    expect(tip()).toBe(before);
  });

  test("only the uncommitted attributes name it: refused by name, and nothing is committed", async () => {
    const { world, worktrees, owned, tip } = await left("uncommitted");
    using _ = world;
    writeFileSync(join(owned.path, ".gitattributes"), "*.rot filter=rot\n");
    const before = tip();
    await expect(worktrees.commitRest(owned, "rest")).rejects.toThrow("rot");
    expect(tip()).toBe(before);
    expect(world.git(owned.path, "status", "--porcelain", "--", "new.rot")).toBe("?? new.rot");
  });

  test("it is confirmed: the file is stored through it", async () => {
    const { world, worktrees, owned } = await left("committed");
    using _ = world;
    expect(await worktrees.commitRest(owned, "rest")).toMatchObject({ skipped: [] });
    expect(world.git(world.root, "cat-file", "blob", `${owned.branch}:new.rot`)).toBe("cynva");
  });
});
