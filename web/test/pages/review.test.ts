import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { slingNew, untilAgent, untilTurns } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage } from "../live-page.ts";

const scenario = `
- when: { agent: b1, turn: 1 }
  do:
    - edit: { file: clock.ts, write: "export const now = Date.now();\\n// <img src=x onerror=alert(1)>\\n" }
    - edit: { file: package-lock.json, write: "{}\\n" }
    - commit: "Add the clock"
    - ov: [done, --summary, "The clock is there <b>now</b>"]
- when: { agent: b1 }
  do:
    - edit: { file: clock.ts, write: "export const now = clock();\\n" }
    - commit: "Ask the clock"
    - ov: [done, --summary, It asks the clock now]
- when: { agent: b2 }
  do:
    - say: "raw words of b2"
    - edit: { file: half.ts, write: "half\\n" }
    - shell: touch "$HOME/running-\${agent}"
    - waitFor: { file: "\${env.HOME}/go" }
    - edit: { file: late.ts, write: "late\\n" }
`;

const serious = `axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
  violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => location.pathname + " " + id + ": " + nodes[0].html.slice(0, 200)))`;

if (browserProgram === undefined) console.error("SKIPPED: the page Review is not tested, because no Chromium is here");

describe.skipIf(browserProgram === undefined)("the page Review, and the tabs of an agent", () => {
  let project: TestProject;
  let live: LivePage;
  let page: Page;

  const findings = async (): Promise<readonly string[]> => {
    await page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
    return page.evaluate<string[]>(serious);
  };
  const changes = () => page.locator("section[aria-label=Changes]");

  beforeAll(async () => {
    project = await makeProject({ scenario });
    live = await openPage(project);
    page = live.page;
  });

  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  test("says that nothing is ready, and shows work by itself when it is handed in, counted in the rail", async () => {
    await page.goto(`${live.origin}/review`);
    await page.getByText("Nothing is ready to be looked at.").waitFor();
    await slingNew(project, "B1");
    await untilAgent(project, "b1", "completed/done");
    await page.locator("[role=row][aria-label=b1]").waitFor();
    await page.getByRole("link", { name: "Review 1 waiting for you" }).waitFor();
    expect(await findings()).toEqual([]);
  });

  test("a person reviews by keyboard alone: open, go to a change, comment, add, and send it as one message", async () => {
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/review/b1**");
    await changes().getByText("onerror=alert(1)").waitFor();
    expect(await page.locator("img").count()).toBe(0);
    // Colours come from a worker, after the text.
    await changes().locator("[data-kind=keyword]", { hasText: "export" }).waitFor();
    await page.getByText("The clock is there <b>now</b>").waitFor();
    await page.getByText("A generated file. It is closed").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("c");
    await page.keyboard.type("Ask the clock of the store");
    await page.keyboard.press("Shift+Enter");
    await page.getByText("Notes, 1 draft").waitFor();
    // What was written is still there after a reload, and nothing was sent yet.
    await page.reload();
    await changes().getByText("Ask the clock of the store").waitFor();
    expect(await project.read((tx) => tx.messages.list({ type: "review" }))).toEqual([]);
    expect(await findings()).toEqual([]);
    await page.keyboard.press("v");
    await page.getByText("1 of 2 files viewed").waitFor();
    await page.keyboard.press("v");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Review sent to b1: 1 finding.").waitFor();
    const [mail] = await project.read((tx) => tx.messages.list({ type: "review" }));
    expect(JSON.parse(mail?.payload ?? "{}")).toMatchObject({
      verdict: "needs_changes",
      findings: [{ file: "clock.ts", line: 1, severity: "error", text: "Ask the clock of the store" }],
    });
  });

  test("when the head moves the page says so and reloads nothing; then only what changed is shown, and accepted", async () => {
    await page.getByText("The head is now").waitFor();
    await changes().getByText("onerror=alert(1)").waitFor();
    await page.getByRole("button", { name: "Show what changed" }).click();
    await changes().getByText("clock();").waitFor();
    await page.getByText("Only what changed since").waitFor();
    await page.getByRole("button", { name: /^Accept/ }).click();
    await page.getByText("The work of b1 is in the merge queue.").waitFor();
    await project.until("it has landed", async () =>
      (await project.read((tx) => tx.merges.list({}))).some(({ status }) => status === "merged"),
    );
  });

  test("the tabs of an agent show its changes, its raw output and the way to its files", async () => {
    await slingNew(project, "B2");
    await untilAgent(project, "b2", "in_turn");
    await project.until("b2 has written", async () => Bun.file(`${project.env.HOME}/running-b2`).exists());
    await page.goto(`${live.origin}/agents/b2`);
    await page.locator("h1").waitFor();
    await page.keyboard.press("2");
    await changes().getByText("half").first().waitFor();
    await page.getByText("some of it is not committed").waitFor();
    expect(await findings()).toEqual([]);
    await page.keyboard.press("6");
    await page.locator("section[aria-label=Output]").getByText("raw words of b2").waitFor();
    expect(await findings()).toEqual([]);
    await page.keyboard.press("3");
    await page.keyboard.press("4");
    await page.keyboard.press("5");
    await page.keyboard.press("7");
    await page.getByText("Base commit").waitFor();
    await page.getByRole("button", { name: "More for b2" }).click();
    await page.getByRole("menuitem", { name: "Snapshots" }).click();
    await page.getByRole("dialog").getByText("Snapshots of b2").waitFor();
    await page.keyboard.press("Escape");
    // What a tab shows stays true while it is in sight.
    await page.keyboard.press("3");
    await page.getByText("half.ts").first().waitFor();
    await Bun.write(`${project.env.HOME}/go`, "");
    await untilTurns(project, "b2", 1);
    await page.getByText("late.ts").first().waitFor();
  });

  test("on a phone nothing scrolls sideways, and a line is commented on by its number", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const path of ["/review", "/review/b1", "/agents/b2?tab=changes", "/agents/b2?tab=transcript"]) {
      await page.goto(live.origin + path);
      await page.locator("h1").first().waitFor();
      await page.waitForTimeout(300);
      expect([path, await page.evaluate<number>("document.documentElement.scrollWidth")]).toEqual([path, 390]);
    }
    await page.goto(`${live.origin}/review/b1`);
    await changes().locator("span[data-sign='+']:not(:first-child)").first().click();
    await page.getByRole("textbox", { name: "Comment on clock.ts line 1" }).fill("By a tap");
    await page.getByRole("button", { name: "Add comment" }).click();
    await changes().getByText("By a tap").waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test("an agent that never was has a page that says so", async () => {
    await page.goto(`${live.origin}/review/nobody`);
    await page.getByRole("heading", { name: "Review nobody" }).waitFor();
    await page.getByRole("alert").first().waitFor();
  });

  test("no page broke, and none met its content policy", () => {
    expect(live.complaints).toEqual([]);
  });
});
