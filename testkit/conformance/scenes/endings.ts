import { expect } from "bun:test";
import { aboutProcess } from "../../about-process.ts";
import { eventsOf, pidOf } from "../../lifecycle.ts";
import type { KitStep } from "../driver.ts";
import { scene } from "../scene.ts";
import { committed, finish, held, type KitWorld } from "../world.ts";

const done: KitStep = { text: "All done." };

/** A command that starts a process in a session of its own, which lasts. The words in it are how it is found. */
const lasting = (words: string): string => `setsid tail -f /dev/null ${words} >/dev/null 2>&1 &`;

const runs = ({ project }: KitWorld, words: string): boolean =>
  project.processes().some((pid) => aboutProcess(pid, "cmdline").includes(words));

export const background = scene({
  name: "background",
  checks: ["background", "large-output"],
  play: async (world) => {
    const [words, flood] = ["kit-background-job", "head -c 2000000 /dev/zero | tr '\\0' x"];
    const steps = world.script(
      { shell: lasting(words) },
      { shell: flood },
      { shell: committed("g.txt") },
      finish,
      done,
    );
    await world.sling("g1", `Begin. ${steps}`);
    await world.finished("g1");
    const [turn, ...more] = await world.turns("g1");
    return {
      background: () => world.project.until("the job had ended", async () => !runs(world, words)),
      "large-output": () => {
        expect(more).toEqual([]);
        expect(turn).toMatchObject({ clean: true, resultText: "All done." });
      },
    };
  },
});

export const steer = scene({
  name: "steer",
  checks: ["steer"],
  play: async (world) => {
    const { driver, project } = world;
    const first = driver.steers
      ? [{ shell: held }, { shell: committed("s.txt") }, finish, done]
      : [{ shell: held }, done];
    await world.sling("s1", `Begin. ${world.script(...first)}`);
    const providerSessionId = await world.isHeld("s1");
    const after = driver.steers ? "" : world.script({ shell: committed("s.txt") }, finish, done);
    const mail = ["--to", "s1", "--subject", "Dates", "--body", `Use UTC-kit. ${after}`];
    const { id } = await project.json("mail", "send", ...mail);
    const delivery = () =>
      project.read(async (tx) => tx.deliveries.get((await tx.messages.get(String(id)))?.seq ?? 0, "s1"));
    if (driver.steers) await project.until("it was written", async () => (await delivery())?.channel === "steer");
    world.letGo("s1");
    await world.finished("s1");
    const turns = await world.turns("s1");
    const agent = await project.agent("s1");
    return {
      steer: async () => {
        expect(await delivery()).toMatchObject({ state: "acked" });
        expect(world.heard("s1")).toContain("Use UTC-kit.");
        expect(turns).toHaveLength(driver.steers ? 1 : 2);
        if (driver.namesSessionEarly) expect(agent).toMatchObject({ providerSessionId });
      },
    };
  },
});

export const interrupt = scene({
  name: "interrupt",
  checks: ["interrupt", "no-orphan"],
  play: async (world) => {
    const { driver, project } = world;
    const words = "kit-orphan";
    const begin = world.script({ shell: `${lasting(words)}\n${held}` }, done);
    await world.sling("i1", `Remember the word heron. ${begin}`);
    const session = await world.isHeld("i1");
    const wasRunning = runs(world, words);
    await project.json("stop", "i1");
    await project.until("the agent had ended", async () => (await project.agent("i1")).state !== "in_turn");
    const isOf = (pid: number): boolean => aboutProcess(pid, "environ").includes("OVERSTORY_AGENT_NAME=i1\0");
    await project.until("its processes had ended", async () => !runs(world, words) && !project.processes().some(isOf));
    const known = world.requests("i1").length;
    // The command that was stopped may be given again; this time it ends at once.
    world.letGo("i1");
    await world.recover("i1");
    const tidy = "test ! -e .held || rm .held; test ! -e .go || rm .go";
    const go = world.script({ shell: `${tidy}; ${committed("i.txt")}` }, finish, done);
    await world.tell("i1", `Go on. ${go}`);
    await world.finishedAtLast("i1");
    const after = await project.agent("i1");
    return {
      interrupt: () => {
        expect(after.outcome).toBe("done");
        if (driver.namesSessionEarly) expect(after.providerSessionId).toBe(session);
        if (driver.stage === null) expect(world.requests("i1").length).toBeGreaterThan(known);
        expect(world.heard("i1")).toContain("Remember the word heron.");
      },
      "no-orphan": () => expect(wasRunning).toBe(true),
    };
  },
});

export const crash = scene({
  name: "crash",
  checks: ["crash"],
  play: async (world) => {
    const { driver, project } = world;
    await world.sling("k1", `Begin. ${world.script({ shell: held }, { shell: committed("k.txt") }, finish, done)}`);
    const session = await world.isHeld("k1");
    process.kill(await pidOf(project, "k1", "agent"), "SIGKILL");
    const lost = await world.untilTurn("k1", "was lost", ({ clean }) => clean !== true);
    await world.project.until("it was tried again", async () => (await world.turns("k1")).length > 1, 150_000);
    if (driver.stage !== null) await world.isHeld("k1");
    world.letGo("k1");
    await world.finishedAtLast("k1");
    const turns = await world.turns("k1");
    return {
      crash: async () => {
        expect(lost).toMatchObject({ clean: false, resultText: null });
        expect(turns.at(-1)).toMatchObject({ clean: true, attempt: 2 });
        const { providerSessionId } = await project.agent("k1");
        // A program that was killed may not have kept its conversation; it then says so once.
        const isAnew = turns.some(({ failure }) => failure === "session_lost");
        if (driver.namesSessionEarly && !isAnew) expect(providerSessionId).toBe(session);
      },
    };
  },
});

export const takeover = scene({
  name: "takeover",
  checks: ["takeover"],
  play: async (world) => {
    const { project } = world;
    const steps = world.script({ shell: held }, { shell: committed("t.txt") }, finish, done);
    await world.sling("t1", `Begin. ${steps}`);
    await world.isHeld("t1");
    const fence = async (): Promise<number> => (await world.turns("t1"))[0]?.fence ?? 0;
    const first = await fence();
    process.kill(await pidOf(project, "t1", "supervisor"), "SIGKILL");
    await project.until("another supervisor had it", async () => (await fence()) > first, 150_000);
    world.letGo("t1");
    await world.finished("t1");
    const turns = await world.turns("t1");
    return {
      takeover: () => {
        expect(turns).toHaveLength(1);
        expect(turns[0]).toMatchObject({ clean: true, resultText: "All done." });
        if (world.driver.stage === null) expect(world.requests("t1")).toHaveLength(4);
      },
    };
  },
});

export const lost = scene({
  name: "lost",
  checks: ["lost-session"],
  play: async (world) => {
    const { project } = world;
    await world.sling("l1", `Remember the word heron. ${world.script({ text: "I wait." })}`);
    await world.untilTurn("l1", "was settled", ({ clean }) => clean === true);
    const before = await project.agent("l1");
    await world.forget("l1");
    await world.tell("l1", `Go on. ${world.script({ shell: committed("l.txt") }, finish, done)}`);
    await world.finishedAtLast("l1");
    const after = await project.agent("l1");
    const turns = await world.turns("l1");
    return {
      "lost-session": async () => {
        expect(after.providerSessionId).not.toBe(before.providerSessionId);
        expect(world.heard("l1")).toContain("Your earlier conversation is gone");
        expect(turns.map(({ failure }) => failure)).toContain("session_lost");
        expect(await eventsOf(project, "resume_mismatch")).toEqual([]);
      },
    };
  },
});

export const mangled = scene({
  name: "mangled",
  checks: ["mangled-output"],
  play: async (world) => {
    const { words, more } = world.mangled({ shell: committed("x.txt") }, finish, { text: "Fertig: grüße 🦉." });
    await world.sling("x1", `Begin. ${words}`, more);
    await world.finished("x1");
    const turns = await world.turns("x1");
    const malformed = (await eventsOf(world.project, "malformed_output")).filter(({ agentName }) => agentName === "x1");
    const { out: log } = await world.project.ovWith({}, "logs", "x1");
    const rows = await world.project.read((tx) => tx.usage.ofTurn(turns[0]?.id ?? ""));
    return {
      "mangled-output": () => {
        expect(turns).toHaveLength(1);
        expect(turns[0]).toMatchObject({ clean: true, resultText: "Fertig: grüße 🦉." });
        expect(malformed.length).toBeGreaterThan(0);
        for (const words of world.mangledWords) expect(log).toContain(words);
        expect(rows.reduce((sum, { input }) => sum + input, 0)).toBe(300);
      },
    };
  },
});
