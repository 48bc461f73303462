import { expect } from "bun:test";
import type { Turn } from "../../../src/domain/turn/turn.ts";
import type { Dialect } from "../../fake-model/dialect.ts";
import { queuedTurn } from "../../lifecycle.ts";
import type { KitStep } from "../driver.ts";
import { scene } from "../scene.ts";
import { committed, finish } from "../world.ts";

const resetAfterS = 900;
const ended: readonly KitStep[] = [{ shell: committed("p.txt") }, finish, { text: "All done." }];

/** What providers say to a model that they do not have. */
const openAi = {
  type: "invalid_request_error",
  message: "The model `m-1` does not exist or you do not have access to it.",
};
const unknownModel: Readonly<Record<Dialect["name"], { readonly type: string; readonly message: string }>> = {
  messages: { type: "not_found_error", message: "model: m-1" },
  responses: openAi,
  chat: openAi,
  gemini: { type: "NOT_FOUND", message: "models/m-1 is not found for API version v1beta" },
};

/** Agents meet each failure that a provider has; all are slung at once, for most of the time is waiting. */
export const provider = scene({
  name: "provider",
  checks: ["server-error", "cut-answer", "rate-limit", "login", "unknown-model"],
  play: async (world) => {
    const { driver, project } = world;
    const troubles: Readonly<Record<string, KitStep>> = {
      pa: { status: 500 },
      pb: { cut: "stream" },
      pc: { status: 429, times: 100, retryAfter: resetAfterS, resetAfter: resetAfterS },
      pd: { status: 401, times: 100, type: "authentication_error", message: "invalid x-api-key" },
      pe: { status: 404, times: 100, ...unknownModel[driver.dialect] },
    };
    const began = Date.now();
    for (const [name, trouble] of Object.entries(troubles))
      await world.sling(name, `Begin. ${world.script(trouble, ...ended)}`);
    const ending = (name: string): Promise<Turn> => world.untilTurn(name, "had ended", () => true);
    const limited = await ending("pc");
    // Without a word about its end a limit is tried again after a minute.
    const parked = await queuedTurn(project, "pc");
    const waits = await project.read((tx) => tx.waits.of("pc"));
    const [refused, unknown] = [await ending("pd"), await ending("pe")];
    return {
      "server-error": () => world.finished("pa"),
      "cut-answer": async () => {
        await world.finishedAtLast("pb");
        // Some ask again themselves; others say what happened, and we do.
        const odd = (await world.turns("pb")).filter(({ clean, failure }) => clean !== true && failure !== "network");
        expect(odd).toEqual([]);
      },
      "rate-limit": () => {
        expect(limited).toMatchObject({ failure: "rate_limit" });
        expect(parked).toMatchObject({ trigger: "retry", attempt: 1 });
        expect(waits.map(({ kind }) => kind)).toEqual(["rate_limit"]);
        if (!driver.tellsReset) return;
        // Clocks that say only the minute are off by up to one.
        expect((parked?.notBefore ?? 0) - began).toBeGreaterThan((resetAfterS - 70) * 1000);
        expect((parked?.notBefore ?? 0) - began).toBeLessThan((resetAfterS + 300) * 1000);
      },
      login: async () => {
        expect(refused).toMatchObject({ failure: "login", clean: false });
        expect(refused.advice).toContain("ov recover pd");
        expect(await project.agent("pd")).toMatchObject({ state: "zombie" });
        expect(world.requests("pd").length).toBeLessThan(8);
      },
      "unknown-model": async () => {
        expect(unknown).toMatchObject({ failure: "model", clean: false });
        expect(await project.agent("pe")).toMatchObject({ state: "zombie" });
      },
    };
  },
});
