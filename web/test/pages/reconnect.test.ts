import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { readIdentity } from "../../../src/host/engine-contact/keeper.ts";
import { slingNew } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { statePath } from "../../../testkit/state.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage } from "../live-page.ts";

const notes = 24;
const note = (at: number): string => `
    - ov: [mail, send, --to, operator, --type, status, --subject, "note ${at} of b1", --body, "as it goes"]
    - shell: sleep 0.25`;
/** One agent writes while engines die; the others are done at once. */
const scenario = `
- when: { agent: b1 }
  do:${Array.from({ length: notes }, (_, at) => note(at)).join("")}
- do:
    - say: done
`;

/** All rows of a list or of the timeline, in the order in which they are seen. */
const rows = `[...document.querySelectorAll("[role=row][aria-label], [role=log] [data-index]")]
  .toSorted((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
  .map((row) => row.getAttribute("aria-label") ?? row.innerText)`;

describe.skipIf(browserProgram === undefined)("pages that stay open while the engine dies and comes back", () => {
  let project: TestProject;
  let live: LivePage;
  const tabs: Record<string, Page> = {};
  const enginePid = (): number => readIdentity(statePath(project.root, "run", "engine.json"))?.pid ?? 0;

  beforeAll(async () => {
    project = await makeProject({ scenario });
    live = await openPage(project);
    for (const address of ["/fleet?done=shown", "/mail?box=all", "/agents/b1"]) {
      const tab = await live.page.context().newPage();
      tab.setDefaultTimeout(20_000);
      // Tall enough for every row: lists draw only what is in sight.
      await tab.setViewportSize({ width: 1280, height: 6000 });
      tabs[address] = tab;
    }
  }, 60_000);
  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  test("Fleet, Mail and Agent lose nothing, show nothing twice, and end as a fresh page does", async () => {
    await slingNew(project, "B1");
    for (const [address, tab] of Object.entries(tabs)) {
      await tab.goto(live.origin + address);
      await tab.waitForSelector("[data-connection=live]");
    }
    for (const name of ["B2", "B3"]) {
      const pid = enginePid();
      process.kill(pid, "SIGKILL");
      await live.page.locator("[data-connection=reconnecting]").waitFor();
      await slingNew(project, name);
      await project.until("another engine serves", async () => enginePid() !== pid);
      await live.page.locator("[data-connection=live]").waitFor();
    }
    await project.settled();
    const seen: Record<string, string[]> = {};
    for (const [address, tab] of Object.entries(tabs)) {
      await tab.waitForSelector("[data-connection=live]");
      // Order is held while a list has the focus or the pointer, and these have neither.
      await tab.waitForTimeout(3000);
      seen[address] = await tab.evaluate<string[]>(rows);
    }
    const fleet = seen["/fleet?done=shown"] ?? [];
    expect(fleet.toSorted()).toEqual(["b1", "b2", "b3"]);
    const mail = seen["/mail?box=all"] ?? [];
    for (let at = 0; at < notes; at++)
      expect([at, mail.filter((name) => name.includes(`note ${at} of b1`)).length]).toEqual([at, 1]);
    for (const [address, tab] of Object.entries(tabs)) {
      await tab.reload();
      await tab.locator("[role=row][aria-label], [role=log] [data-index]").first().waitFor();
      await tab.waitForTimeout(1000);
      const fresh = await tab.evaluate<string[]>(rows);
      // A fresh timeline begins with its newest events; its last rows may be folded without the older ones.
      const whole = address.startsWith("/agents") ? fresh.length - 3 : fresh.length;
      expect(fresh.length).toBeGreaterThan(2);
      expect([address, fresh.slice(0, whole)]).toEqual([address, seen[address]?.slice(0, whole) ?? []]);
    }
    expect(live.complaints).toEqual([]);
  }, 120_000);

  test("a long operation whose engine has died is told as unknown, with the way to the audit", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/merge`);
    // The engine that began this one is gone, so the server has never heard of it.
    await page.route("**/api/merge/pause", (route) =>
      route.fulfill({ status: 202, json: { operation: crypto.randomUUID() } }),
    );
    await page.getByRole("button", { name: "Pause queue" }).click();
    await page.getByText(/It is not known whether it worked to pause the queue: the engine was started anew/).waitFor();
    await page.getByRole("button", { name: "Open the audit" }).click();
    await page.waitForURL(/\/health\?.*tab=audit/);
  });
});
