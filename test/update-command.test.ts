import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { sealed, sealWord } from "../src/domain/project/generated-state.ts";
import { randomIds } from "../src/host/ids.ts";
import { document, initWorld, type World } from "./init.world.ts";

/** A text as an earlier version of the program would have written it. */
const earlier = (text: string): string => sealed(text, randomIds.digest);

const nothing = {
  manifest: { updated: false },
  hooks: { updated: false },
  gitignore: { updated: false },
  readme: { updated: false },
  instructions: { updated: false },
  written: [],
  kept: [],
  backups: [],
};

/** The files beside the database come and go with whoever looks into it. */
const everything = (world: World): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(world.snapshot()).filter(([path]) => !/\.db-(?:shm|wal)$/.test(path)));

async function project(): Promise<World> {
  const world = await initWorld();
  await world.ov("init");
  return world;
}

/** Everything generated, as an earlier version would have left it; answers what ships. */
async function makeOld(world: World): Promise<Readonly<Record<string, string>>> {
  await world.ov("hooks", "install");
  const paths = [
    ".overstory/README.md",
    ".overstory/.gitignore",
    ".overstory/agent-manifest.json",
    "CLAUDE.md",
    ".claude/settings.local.json",
  ];
  const ships = Object.fromEntries(paths.map((path) => [path, world.read(path)]));
  world.write(".overstory/README.md", earlier(`<!-- ${sealWord} -->\n# old\n`));
  world.write(".overstory/.gitignore", earlier(`# ${sealWord}\n*\n`));
  world.write(".overstory/agent-manifest.json", earlier(`{"$comment":"${sealWord}"}\n`));
  const guide = earlier(`<!-- ${sealWord} -->\n## Old\n`);
  world.write("CLAUDE.md", `<!-- overstory:begin -->\n${guide}<!-- overstory:end -->\n`);
  const memory: { before: unknown; after: string } = JSON.parse(world.read(".git/ov-state/run/hooks-before.json"));
  const after = memory.after.replaceAll('"timeout": 30', '"timeout": 5');
  world.write(".git/ov-state/run/hooks-before.json", JSON.stringify({ ...memory, after }));
  world.write(".claude/settings.local.json", after);
  return ships;
}

describe("what an earlier version wrote", () => {
  test("is brought up to date, and a second update changes not a byte", async () => {
    using world = await project();
    const ships = await makeOld(world);
    const said = await world.json("update");
    expect(said).toEqual({
      success: true,
      command: "update",
      dryRun: false,
      agentDefs: { updated: [], unchanged: [] },
      manifest: { updated: true },
      hooks: { updated: true },
      gitignore: { updated: true },
      readme: { updated: true },
      instructions: { updated: true },
      written: [
        ".overstory/.gitignore",
        ".overstory/README.md",
        ".overstory/agent-manifest.json",
        "CLAUDE.md",
        ".claude/settings.local.json",
      ],
      kept: [],
      backups: [],
    });
    for (const [path, text] of Object.entries(ships)) expect([path, world.read(path)]).toEqual([path, text]);
    const before = everything(world);
    expect(await world.json("update")).toMatchObject(nothing);
    expect((await world.ov("update")).out).toBe("Nothing to update\n");
    expect(everything(world)).toEqual(before);
  });

  test("with --dry-run is only named", async () => {
    using world = await project();
    await makeOld(world);
    const before = everything(world);
    const said = await world.json("update", "--dry-run");
    expect(said).toMatchObject({ dryRun: true, readme: { updated: true }, hooks: { updated: true } });
    expect((await world.ov("update", "--dry-run", "--force")).out).toStartWith("Would bring 5 files up to date:\n");
    expect(everything(world)).toEqual(before);
  });

  test("is brought up to date part by part when parts are named", async () => {
    using world = await project();
    await makeOld(world);
    expect((await world.json("update", "--manifest")).written).toEqual([".overstory/agent-manifest.json"]);
    expect((await world.json("update", "--hooks")).written).toEqual([".claude/settings.local.json"]);
    expect((await world.json("update", "--agents")).written).toEqual([]);
    expect((await world.json("update")).written).toEqual([
      ".overstory/.gitignore",
      ".overstory/README.md",
      "CLAUDE.md",
    ]);
  });

  test("is made again where it is gone, except what somebody may not have wanted", async () => {
    using world = await initWorld();
    await world.ov("init", "--no-instructions");
    rmSync(join(world.root, ".overstory/README.md"));
    rmSync(join(world.root, ".overstory/agent-manifest.json"));
    expect((await world.json("update")).written).toEqual([".overstory/README.md", ".overstory/agent-manifest.json"]);
    expect(existsSync(join(world.root, "CLAUDE.md"))).toBe(false);
    expect(existsSync(join(world.root, ".claude"))).toBe(false);
  });

  test("is followed over several versions also when the settings around the hooks change", async () => {
    using world = await project();
    await makeOld(world);
    const settings = ".claude/settings.local.json";
    world.write(settings, world.read(settings).replace("{", '{"permissions": {"allow": []},'));
    expect(await world.json("update", "--hooks")).toMatchObject({ hooks: { updated: true }, kept: [] });
    const memory: { after: string } = JSON.parse(world.read(".git/ov-state/run/hooks-before.json"));
    expect(memory.after).toBe(world.read(settings));
    await world.ov("hooks", "uninstall");
    expect(JSON.parse(world.read(settings))).toEqual({ permissions: { allow: [] } });
  });
});

describe("what belongs to the user", () => {
  test("survives byte for byte, with --force too", async () => {
    using world = await project();
    await makeOld(world);
    const { text } = await world.json("prompt", "show", "lead", "--text");
    world.write(".overstory/agent-defs/lead.md", `${String(text)}\r\nMine.`);
    world.write(".overstory/agent-defs/scout.md", String(text).replace(/role lead \w+/, "role scout 000000000000"));
    world.write(".overstory/agent-defs/merger.md", "from an earlier program\n");
    world.write(".overstory/agent-defs/builder.local.md", Buffer.from([0xff, 0x0a, 0x4b]));
    world.write(".overstory/config.yaml", "# mine\nproject: {name: repo}\n");
    world.write(".overstory/config.local.yaml", "agents: {maxDepth: 1}\n");
    world.write(".overstory/specs/t1.md", "spec\n");
    world.write(".git/ov-state/logs/b1.log", "log\n");
    const before = everything(world);
    const said = await world.json("update", "--force");
    expect(said.agentDefs).toEqual({
      updated: [],
      unchanged: ["lead.md", "scout.md", "builder.local.md", "merger.md"],
    });
    expect(said.kept).toMatchObject([
      { part: "agentDefs", path: ".overstory/agent-defs/lead.md", state: "edited" },
      { part: "agentDefs", path: ".overstory/agent-defs/scout.md", state: "diverged" },
      { part: "agentDefs", path: ".overstory/agent-defs/merger.md", state: "unknown" },
    ]);
    const after = everything(world);
    const changed = Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path]);
    const memory = ".git/ov-state/run/hooks-before.json";
    const own = changed.filter((path) => ![".git/ov-state", ".git/ov-state/run", ".claude", memory, ""].includes(path));
    expect(own.sort()).toEqual([...(said.written as string[])].sort());
  });

  test("is spoken of where it is behind, with what to do about it", async () => {
    using world = await project();
    const { text } = await world.json("prompt", "show", "lead", "--text");
    world.write(".overstory/agent-defs/lead.md", String(text));
    world.write(".overstory/agent-defs/merger.md", "from an earlier program\n");
    const { code, out } = await world.ov("update", "--agents");
    expect(code).toBe(0);
    expect(out).toContain("merger.md was kept: it does not count");
    expect(out).toContain("ov prompt diff merger");
    expect(out).not.toContain("lead.md");
  });
});

describe("what was changed by hand", () => {
  test("is kept and named, by how it stands to what ships", async () => {
    using world = await project();
    const edited = `${world.read(".overstory/README.md")}Ask Ann first.\n`;
    world.write(".overstory/README.md", edited);
    world.write(".overstory/.gitignore", `${earlier(`# ${sealWord}\n*\n`)}!mine\n`);
    world.write(".overstory/agent-manifest.json", "{}\n");
    world.write("CLAUDE.md", world.read("CLAUDE.md").replace("## Overstory", "## Ours"));
    const before = everything(world);
    const { kept: left, ...said } = await world.json("update");
    const { kept: _, ...rest } = nothing;
    expect(said).toMatchObject(rest);
    const kept = left as { path: string; state: string }[];
    expect(kept.map(({ path, state }) => [path, state])).toEqual([
      [".overstory/.gitignore", "diverged"],
      [".overstory/README.md", "edited"],
      [".overstory/agent-manifest.json", "unknown"],
      ["CLAUDE.md", "edited"],
    ]);
    const { code, out } = await world.ov("update");
    expect(code).toBe(0);
    expect(out).toContain("README.md was kept: it was changed by hand; what ships has not changed since");
    expect(out).toContain("ov update --force");
    expect(everything(world)).toEqual(before);
  });

  test("is replaced with --force, and a copy stays out of git's sight", async () => {
    using world = await project();
    const ships = { readme: world.read(".overstory/README.md"), guide: world.read("CLAUDE.md") };
    world.write(".overstory/README.md", "mine\n");
    chmodSync(join(world.root, ".overstory/README.md"), 0o600);
    const guide = `# Mine\n\n${ships.guide.replace("## Overstory", "## Ours")}`;
    world.write("CLAUDE.md", guide);
    const said = await world.json("update", "--force");
    expect(said).toMatchObject({ readme: { updated: true }, instructions: { updated: true }, kept: [] });
    const copies = (said.backups as string[]).map((path) => world.read(path));
    expect(copies).toEqual(["mine\n", guide]);
    expect(world.read(".overstory/README.md")).toBe(ships.readme);
    expect(statSync(join(world.root, ".overstory/README.md")).mode & 0o777).toBe(0o600);
    expect(world.read("CLAUDE.md")).toBe(`# Mine\n\n${ships.guide}`);
    expect(await world.git("status", "--porcelain", "--untracked-files=all")).not.toContain(".bak");
    expect(await world.json("update", "--force")).toMatchObject(nothing);
  });

  test("in hooks or in settings that cannot be read is kept, and stops nothing else", async () => {
    using world = await project();
    await makeOld(world);
    const settings = ".claude/settings.local.json";
    const changed = world.read(settings).replace('"timeout": 5', '"timeout": 99');
    world.write(settings, changed);
    const said = await world.json("update");
    expect(said).toMatchObject({ readme: { updated: true }, kept: [{ path: settings, state: "diverged" }] });
    expect(world.read(settings)).toBe(changed);
    world.write(settings, "{ broken");
    expect(await world.json("update", "--force")).toMatchObject({ kept: [{ path: settings, state: "unknown" }] });
    expect(world.read(settings)).toBe("{ broken");
  });

  test("and is no file at all, or has broken marks, stays also with --force", async () => {
    using world = await project();
    rmSync(join(world.root, ".overstory/README.md"));
    world.write("mine.md", "mine\n");
    symlinkSync("../mine.md", join(world.root, ".overstory/README.md"));
    rmSync(join(world.root, ".overstory/.gitignore"));
    mkdirSync(join(world.root, ".overstory/.gitignore"));
    world.write("CLAUDE.md", "<!-- overstory:begin -->\nmine\n");
    const before = everything(world);
    const { kept } = await world.json("update", "--force");
    expect(kept).toMatchObject([
      { part: "gitignore", replaceable: false },
      { part: "readme", replaceable: false },
      { part: "instructions", replaceable: false },
    ]);
    expect((await world.ov("update", "--force")).out).not.toContain("ov update --force");
    expect(everything(world)).toEqual(before);
    expect(readFileSync(join(world.root, "mine.md"), "utf8")).toBe("mine\n");
  });
});

describe("an update is refused", () => {
  test("where there is no project, with the command that makes one", async () => {
    using world = await initWorld();
    const before = everything(world);
    const answer = await world.ov("update", "--json");
    expect(answer.code).toBe(3);
    expect(document(answer)).toMatchObject({ success: false, details: { kind: "not-initialised" } });
    world.env.OVERSTORY_PROJECT_ROOT = world.root;
    expect((await world.ov("update")).err).toContain("ov init");
    expect(everything(world)).toEqual(before);
  });

  test("to whoever speaks for an agent", async () => {
    using world = await project();
    world.write(".overstory/README.md", "mine\n");
    world.env.OVERSTORY_TOKEN = "t";
    expect((await world.ov("update", "--force")).code).toBe(8);
    expect(world.read(".overstory/README.md")).toBe("mine\n");
  });
});
