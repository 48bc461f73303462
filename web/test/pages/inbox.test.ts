import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { slingNew, untilAgent } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage } from "../live-page.ts";

const scenario = `
- when: { agent: b1, turn: 1 }
  do:
    - ov: [mail, send, --to, operator, --type, decision_gate, --subject, "Which store?", --body, Both would do, --payload, '{"options":["Postgres","SQLite"]}']
    - ov: [mail, send, --to, operator, --type, question, --subject, "Which clock?", --body, "Local or UTC?", --expects-reply]
    - say: I wait for the answers.
- do: [{ say: Thank you. }]
`;

describe.skipIf(browserProgram === undefined)("the inbox, over any page", () => {
  let project: TestProject;
  let live: LivePage;

  beforeAll(async () => {
    project = await makeProject({ scenario });
    await slingNew(project, "B1");
    await untilAgent(project, "b1", "between_turns");
    live = await openPage(project);
    live.page.setDefaultTimeout(10_000);
  }, 60_000);
  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  test("its keys move, answer and snooze, and a question over it keeps them for itself", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/costs`);
    await page.locator("[data-connection=live]").waitFor();
    await page.getByText("2 need you: decision").waitFor();
    await page.keyboard.press("i");
    const panel = page.getByRole("dialog", { name: "Needs you" });
    await panel.getByText("b1 asks: Which store?").waitFor();
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    await page.keyboard.press("j");
    await project.until("the second item has the focus", async () => (await focused()).includes("Which clock?"));
    await page.keyboard.press("k");
    await project.until("the first item has it again", async () => (await focused()).includes("Which store?"));
    // Keys of the page behind it do nothing.
    await page.keyboard.press("p");
    expect(await page.getByText(/^Frozen at/).count()).toBe(0);
    await page.keyboard.press("2");
    await project.until("the decision is made", async () => {
      const { decisions } = await project.json("inbox", "--peek");
      return (decisions as unknown[]).length === 0;
    });
    expect(JSON.stringify(await project.read((tx) => tx.messages.list({ type: "decision" })))).toContain("SQLite");
  }, 60_000);

  test("Reply leaves the panel and lands in the field for the answer, so that words are no commands", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/costs`);
    await page.getByText("1 needs you: question").waitFor();
    await page.keyboard.press("i");
    await page.getByRole("dialog").getByRole("link", { name: "Reply" }).click();
    await page.waitForURL("**/mail?msg=**");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await project.until("the field has the focus", () =>
      page.evaluate<boolean>("document.activeElement.tagName === 'TEXTAREA'"),
    );
    await page.keyboard.type("Use UTC");
    expect(await page.getByLabel("Reply to b1").inputValue()).toBe("Use UTC");
    expect(page.url()).not.toContain("write=");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Nothing needs you").first().waitFor();
  }, 60_000);

  test("a message that is put aside keeps its reader too", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/mail`);
    await page.locator("[data-connection=live]").waitFor();
    await page.getByRole("button", { name: "Compose" }).click();
    const sheet = page.getByRole("dialog");
    await sheet.getByLabel("To", { exact: true }).fill("b1");
    await sheet.getByLabel("Subject").fill("The clock");
    await sheet.getByRole("button", { name: "Keep as draft" }).click();
    await page.reload();
    await page.locator("[data-connection=live]").waitFor();
    await page.getByRole("button", { name: "Compose" }).click();
    expect(await sheet.getByLabel("To", { exact: true }).inputValue()).toBe("b1");
    expect(await sheet.getByLabel("Subject").inputValue()).toBe("The clock");
    expect(live.complaints).toEqual([]);
  }, 60_000);
});
