import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { slingNew } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram, startBrowser } from "../browser.ts";
import { openPage } from "../live-page.ts";

/** It asks the operator, and then waits. */
const scenario = `
- when: { turn: 1 }
  do:
    - edit: { file: "menu.txt", write: "\${agent}\\n" }
    - commit: "work of \${agent}"
    - ov: [mail, send, --to, operator, --type, question, --subject, Which, --body, until told]
`;

/** Every page, with an action that it must not offer; undefined where the page has none. */
const pages: readonly (readonly [string, string | undefined])[] = [
  ["/", undefined],
  ["/fleet", "New agent"],
  ["/agents/b1", "Nudge"],
  ["/merge", "Pause queue"],
  ["/merge?view=history", "Pause queue"],
  ["/merge/1", "Approve"],
  ["/review", undefined],
  ["/review/b1", undefined],
  ["/coordinator", undefined],
  ["/mail?box=all", "Compose"],
  ["/tasks", "New task"],
  ["/runs", undefined],
  ["/costs", undefined],
  ["/health", undefined],
  ["/settings/appearance", undefined],
  ["/settings/tokens", "Create token"],
  ["/settings/merge", undefined],
];

/** Presses everything that can be pressed on the page, and in dialogs that this opens. */
const pressAll = `(async () => {
  const here = location.pathname + location.search;
  const pressed = [];
  const all = () => [...document.querySelectorAll("main button, [role=dialog] button")];
  for (let at = 0; at < 60; at++) {
    const button = all()[at];
    if (button === undefined) break;
    if (button.disabled || button.getAttribute("aria-disabled") === "true") continue;
    pressed.push(button.textContent || button.getAttribute("aria-label"));
    button.click();
    await new Promise((resolve) => setTimeout(resolve, 20));
    document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    if (location.pathname + location.search === here) continue;
    history.pushState(null, "", here);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return pressed;
})()`;

/** Goes there without loading the document anew: while the server is away there is nothing to load. */
async function visit(page: Page, address: string): Promise<void> {
  await page.evaluate(`history.pushState(null, "", ${JSON.stringify(address)})`);
  await page.locator("main h1").first().waitFor({ state: "attached" });
  await page.waitForTimeout(400);
}

describe.skipIf(browserProgram === undefined)("every page without rights, and without a server", () => {
  let project: TestProject;
  let page: Page;
  let closers: (() => Promise<void>)[] = [];
  const changes: string[] = [];

  beforeAll(async () => {
    project = await makeProject({ files: { "menu.txt": "menu\n" }, scenario });
    await slingNew(project, "B1");
    await project.git("checkout", "--quiet", "-b", "a", "main");
    await Bun.write(join(project.root, "menu.txt"), "other\n");
    await project.git("commit", "--quiet", "-am", "work");
    await project.git("checkout", "--quiet", "main");
    await project.json("merge", "add", "a");
    const operator = await openPage(project);
    const viewer = await startBrowser();
    closers = [operator.close, viewer.close];
    page = await viewer.context.newPage();
    page.setDefaultTimeout(20_000);
    page.on("request", (request) => {
      if (request.method() !== "GET") changes.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    await page.goto(String((await project.json("serve", "login", "--role", "viewer")).url));
    await page.getByText("live, viewer").waitFor();
  }, 90_000);

  afterAll(async () => {
    for (const close of closers) await close();
    await project?.[Symbol.asyncDispose]();
  });

  test("a viewer sees each page, and nothing that can be pressed there asks the server for a change", async () => {
    expect(changes.splice(0)).toEqual(["POST /api/login"]);
    for (const [address, action] of pages) {
      await visit(page, address);
      if (action !== undefined) {
        const button = page.locator("main").getByRole("button", { name: action, exact: false }).first();
        await button.waitFor();
        expect([address, action, await button.getAttribute("aria-disabled")]).toEqual([address, action, "true"]);
      }
      const pressed = await page.evaluate<string[]>(pressAll);
      expect([address, pressed, changes]).toEqual([address, pressed, []]);
      await page.keyboard.press("Escape");
    }
    await visit(page, "/fleet");
    // Why an agent waits is told in words, not by the id of a message.
    await page.getByText("waits for your answer: Which", { exact: true }).first().waitFor();
    await page.locator("main").getByRole("button", { name: "New agent" }).hover();
    await page.getByText("Your token can look, not act.").first().waitFor();
  }, 120_000);

  test("while the server is away each page keeps what it knows, says so, and asks for no change", async () => {
    await project.json("serve", "stop");
    await page.getByText(/^Not connected since/).waitFor();
    for (const [address, action] of pages) {
      await visit(page, address);
      expect([address, await page.getByText(/actions are off/).count()]).toEqual([address, 1]);
      if (action !== undefined) {
        const button = page.locator("main").getByRole("button", { name: action, exact: false }).first();
        expect([address, action, await button.getAttribute("aria-disabled")]).toEqual([address, action, "true"]);
      }
      const pressed = await page.evaluate<string[]>(pressAll);
      expect([address, pressed, changes]).toEqual([address, pressed, []]);
      await page.keyboard.press("Escape");
    }
  }, 120_000);
});
