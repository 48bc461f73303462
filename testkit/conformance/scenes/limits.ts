import { expect } from "bun:test";
import type { Turn } from "../../../src/domain/turn/turn.ts";
import type { KitDriver } from "../driver.ts";
import { scene } from "../scene.ts";
import { committed, finish } from "../world.ts";

/** Some programs take what repeats itself for a loop, so each word and each command is another one. */
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at + 1);

/** It takes longer than the limit of silence in the strict project. */
const longAnswer = ({ silenceMs }: KitDriver) => ({
  text: numbers(40)
    .map((at) => `${at * at * 7919} is a number.`)
    .join(" "),
  pieces: 40,
  pauseMs: (silenceMs * 1.4) / 40,
});

const isSilent = ({ error }: Turn): boolean => error === "stalled";

export const silence = scene({
  name: "silence",
  in: "strict",
  checks: ["hang", "hang-in-answer", "long-answer"],
  play: async (world) => {
    const { driver } = world;
    await world.sling("ha", `Begin. ${world.script({ hang: "headers", times: 100 }, { text: "never" })}`);
    // The first start in a new home takes long; a limit of silence is not to meet it.
    if (driver.stage === null)
      await world.project.until("it asked", async () => world.requests("ha").length > 0, 150_000);
    await world.sling("hb", `Begin. ${world.script({ hang: "stream", times: 100 }, { text: "never" })}`);
    const isLong = driver.skips["long-answer"] === undefined;
    if (isLong)
      await world.sling("hc", `Begin. ${world.script({ shell: committed("h.txt") }, finish, longAnswer(driver))}`);
    const ended = (name: string): Promise<Turn> => world.untilTurn(name, "had ended", () => true);
    const [never, broken] = [await ended("ha"), await ended("hb")];
    if (isLong) await ended("hc");
    return {
      hang: () => expect(never).toMatchObject({ clean: false, error: "stalled" }),
      "hang-in-answer": () => {
        // Some notice by themselves and say so.
        expect(broken.clean).toBe(false);
        expect(isSilent(broken) || broken.failure === "network").toBe(true);
      },
      "long-answer": async () => {
        await world.finished("hc");
        const turns = await world.turns("hc");
        expect(turns).toHaveLength(1);
        expect([turns[0]?.clean, turns[0]?.resultText?.trimEnd()]).toEqual([true, longAnswer(driver).text]);
      },
    };
  },
});

export const spending = scene({
  name: "spending",
  in: "strict",
  checks: ["budget"],
  play: async (world) => {
    const { driver, project } = world;
    const steps = numbers(14).map((at) => ({ shell: `test ${at} -gt 0` }));
    await world.sling("ba", `Begin. ${world.script(...steps, { text: "All done." })}`);
    await world.untilTurn("ba", "had ended", () => true);
    await world.tell("ba", "Go on.");
    const waits = () => project.read((tx) => tx.waits.of("ba"));
    await project.until("it waited for the budget", async () => (await waits()).some(({ kind }) => kind === "budget"));
    const turns = await world.turns("ba");
    return {
      budget: () => {
        // One that had ended its turn was reopened for the mail, and has not begun since.
        expect(turns.length).toBeLessThanOrEqual(1);
        const asked = world.requests("ba").length;
        if (driver.stage !== null) return;
        if (driver.tellsUsageEarly) expect(asked).toBeLessThan(15);
        else expect(asked).toBe(15);
      },
    };
  },
});
