import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { letGo, slingNew, untilAgent, untilTurns } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage } from "../live-page.ts";

/** Each asks something and waits for the answer; `busy` works until it is let go. */
const scenario = `
- when: { agent: busy, turn: 1 }
  do:
    - waitFor: { file: "\${env.HOME}/go" }
- when: { turn: 1 }
  do:
    - ov: [mail, send, --to, operator, --type, question, --subject, Which, --body, Which one?]
- do:
    - say: I have read it.
`;

if (browserProgram === undefined)
  console.error(
    "SKIPPED: acts on agents are not tested on the page: no Chromium is here (scripts/ci-deps installs it)",
  );

describe.skipIf(browserProgram === undefined)("acts on agents on the page", () => {
  let project: TestProject;
  let live: LivePage;
  let page: Page;

  beforeAll(async () => {
    project = await makeProject({ scenario, config: "agents:\n  maxConcurrent: 6\n  staggerDelayMs: 0\n" });
    for (const task of ["B1", "B2", "B3"]) await slingNew(project, task);
    for (const name of ["b1", "b2", "b3"]) await untilTurns(project, name, 1);
    await slingNew(project, "BUSY");
    await untilAgent(project, "busy", "in_turn");
    live = await openPage(project);
    page = live.page;
    page.setDefaultTimeout(10_000);
  }, 60_000);
  afterAll(async () => {
    await letGo(project);
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  const row = (name: string) => page.locator(`[role=row][aria-label=${name}]`);
  const toast = (text: string) => page.getByText(text).first();
  /** The state of the page before each test: nothing chosen, and no toast of an earlier test. */
  const open = async (path: string): Promise<void> => {
    await page.goto(live.origin + path);
    await page.locator("[data-connection=live]").waitFor();
  };
  /** The row of this agent has the focus, reached by keys alone. */
  const walkTo = async (name: string): Promise<void> => {
    await row(name).waitFor();
    await page.keyboard.press("j");
    await page.locator("[role=row]:focus").waitFor();
    const names = await page.evaluate<string[]>(`[...document.querySelectorAll("[role=row][aria-selected]")]
      .toSorted((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((row) => row.ariaLabel)`);
    await page.keyboard.press("Home");
    for (const [at, each] of names.slice(0, names.indexOf(name) + 1).entries()) {
      if (at > 0) await page.keyboard.press("j");
      await page.locator(`[role=row][aria-label=${each}]:focus`).waitFor();
    }
  };
  /** The page shows that nothing of this agent runs. */
  const untilIdle = async (name: string): Promise<void> => {
    await untilAgent(project, name, "between_turns");
    await row(name)
      .getByText(/^(Waits|Paused)$/)
      .first()
      .waitFor();
  };
  const nudges = (name: string) =>
    project.read(async (tx) => {
      const mail = await tx.messages.list({ to: name, type: "status" });
      return mail.filter(({ subject }) => subject === "[NUDGE from operator]").length;
    });
  const isPaused = (name: string) =>
    project.read(async (tx) => (await tx.waits.of(name)).some(({ kind }) => kind === "operator"));
  const stateOf = async (name: string) => {
    const { state, outcome } = await project.agent(name);
    return `${state}/${outcome}`;
  };

  /** Chooses this in the menu of the agent's page. */
  const choose = async (agent: string, label: string | RegExp): Promise<void> => {
    await page.getByRole("button", { name: `More for ${agent}` }).click();
    await page.getByRole("menuitem", { name: label, exact: true }).click();
    await page.getByRole("menu").waitFor({ state: "detached" });
  };

  beforeEach(() => open("/fleet"));

  test("an agent is nudged by n, paused and resumed by Shift+P, from its row", async () => {
    await walkTo("b1");
    await page.keyboard.press("n");
    await toast("Nudged b1.").waitFor();
    await project.until("the nudge was read", async () => (await nudges("b1")) === 1);
    await page.keyboard.press("Shift+P");
    await toast("Paused b1.").waitFor();
    expect(await isPaused("b1")).toBe(true);
    await row("b1").getByText("Paused").first().waitFor();
    await page.keyboard.press("Shift+P");
    await toast("b1 goes on.").waitFor();
    expect(await isPaused("b1")).toBe(false);
  }, 60_000);

  test("s asks before it stops, tells what is kept, and Escape stops nothing", async () => {
    await untilIdle("b1");
    await walkTo("b1");
    await page.keyboard.press("s");
    const dialog = page.getByRole("dialog", { name: "Stop b1?" });
    await dialog.getByText("b1: no new turn starts.").waitFor();
    await dialog.getByText("Kept: worktree, branch and everything uncommitted.").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect((await project.agent("b1")).stopRequestedBy).toBeNull();
    expect(await stateOf("b1")).not.toContain("stopped");
  }, 60_000);

  test("the page of an agent nudges, pauses and resumes it by its buttons", async () => {
    await open("/agents/b2");
    await page.getByRole("button", { name: "Nudge" }).click();
    await toast("Nudged b2.").waitFor();
    expect(await nudges("b2")).toBe(1);
    await choose("b2", "Pause");
    await toast("Paused b2.").waitFor();
    expect(await isPaused("b2")).toBe(true);
    await page.locator("header").getByText("Paused").first().waitFor();
    await choose("b2", "Resume");
    await toast("b2 goes on.").waitFor();
    expect(await isPaused("b2")).toBe(false);
  }, 60_000);

  test("a running turn is stopped from the page of its agent; the agent is recovered, stopped by s, and released", async () => {
    await open("/agents/busy");
    await page.getByRole("button", { name: "More for busy" }).click();
    // An agent that is at work can be neither recovered nor released.
    for (const label of [/^Retry/, /^Release/])
      expect(await page.getByRole("menuitem", { name: label }).getAttribute("aria-disabled")).toBe("true");
    await page.getByRole("menuitem", { name: "Stop", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Stop busy?" });
    await dialog.getByText("busy: its turn ends now.").waitFor();
    await dialog.getByRole("button", { name: "Stop busy" }).click();
    await toast("Stopped busy.").waitFor();
    expect(await stateOf("busy")).toBe("completed/stopped");
    // An agent that has ended is neither nudged nor stopped once more.
    const nudge = page.getByRole("button", { name: "Nudge" });
    await project.until("Nudge was off", async () => (await nudge.getAttribute("aria-disabled")) === "true");
    await page.keyboard.press("s");
    await page.waitForTimeout(200);
    expect(await page.getByRole("dialog").count()).toBe(0);

    await choose("busy", /^Retry/);
    await toast("busy was recovered.").waitFor();
    expect((await project.agent("busy")).generation).toBe(2);
    await page.getByText("g2").first().waitFor();
    await project.until("Nudge was on again", async () => (await nudge.getAttribute("aria-disabled")) === null);

    await page.keyboard.press("s");
    await dialog.getByRole("button", { name: "Stop busy" }).click();
    await project.until("it was stopped again", async () => (await stateOf("busy")) === "completed/stopped");
    await project.until("Nudge was off", async () => (await nudge.getAttribute("aria-disabled")) === "true");
    await choose("busy", "Release");
    await toast("Released busy.").waitFor();
    expect((await project.agent("busy")).releasedAt).not.toBeNull();
  }, 60_000);

  test("the bar below the fleet nudges, pauses and stops every chosen agent, and no other", async () => {
    await walkTo("b2");
    await page.keyboard.press("Space");
    await walkTo("b3");
    await page.keyboard.press("Space");
    await page.getByText("2 selected").waitFor();
    const before = [await nudges("b1"), await nudges("b2"), await nudges("b3")];
    await page.getByRole("button", { name: "Nudge", exact: true }).click();
    for (const name of ["b2", "b3"]) await toast(`Nudged ${name}.`).waitFor();
    expect([await nudges("b1"), await nudges("b2"), await nudges("b3")]).toEqual(
      before.map((count, at) => (at === 0 ? count : count + 1)),
    );
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    for (const name of ["b2", "b3"]) await toast(`Paused ${name}.`).waitFor();
    expect([await isPaused("b1"), await isPaused("b2"), await isPaused("b3")]).toEqual([false, true, true]);
    for (const name of ["b2", "b3"]) await untilIdle(name);
    await page.getByRole("button", { name: "Stop...", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Stop 2 agents?" });
    for (const name of ["b2", "b3"]) await dialog.getByText(`${name}: no new turn starts.`).waitFor();
    await dialog.getByRole("button", { name: "Stop 2 agents" }).click();
    for (const name of ["b2", "b3"]) await toast(`Stopped ${name}.`).waitFor();
    expect([await stateOf("b2"), await stateOf("b3")]).toEqual(["completed/stopped", "completed/stopped"]);
    expect(await stateOf("b1")).not.toContain("stopped");
    expect(live.complaints).toEqual([]);
  }, 60_000);
});
