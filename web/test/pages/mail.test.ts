import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { openSqlite } from "../../../src/store/sqlite.ts";
import { letGo, slingNew, untilAgent } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { statePath } from "../../../testkit/state.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage, phoneWidths, seriousFindings } from "../live-page.ts";

const gate = JSON.stringify({ options: ["Postgres", "SQLite"] });
const scenario = `
- when: { agent: b1, turn: 1 }
  do:
    - ov: [mail, send, --to, operator, --type, decision_gate, --subject, "Which database?", --body, "**Both** would do. <img src=x onerror=alert(1)> ![p](https://example.org/p.png) [bad](javascript:alert(1))", --payload, '${gate}']
    - say: I wait for the answer.
- do:
    - shell: touch "$HOME/running-\${agent}"
    - waitFor: { file: "\${env.HOME}/go" }
    - say: done
`;

if (browserProgram === undefined)
  console.error("SKIPPED: the page of mail is not tested, because no Chromium is here (scripts/ci-deps installs it)");

describe.skipIf(browserProgram === undefined)("the page of mail", () => {
  let project: TestProject;
  let live: LivePage;
  let page: Page;

  beforeAll(async () => {
    project = await makeProject({ scenario });
    await slingNew(project, "B1");
    await slingNew(project, "B2");
    await untilAgent(project, "b1", "between_turns");
    await untilAgent(project, "b2", "in_turn");
    live = await openPage(project);
    page = live.page;
  });
  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  const deliveries = () =>
    project.read(async (tx) => {
      const all = await tx.messages.list({});
      return Promise.all(all.map(({ seq }) => tx.deliveries.ofMessage(seq)));
    });

  test("a decision is read and made by keyboard; looking at it changes no delivery, and marks it as seen by the operator", async () => {
    await page.getByRole("link", { name: "Mail" }).getByText("1").first().waitFor();
    const before = await deliveries();
    await page.keyboard.press("g");
    await page.keyboard.press("l");
    const row = page.locator("[role=row][aria-label^='Which database?']");
    await row.waitFor();
    expect(await row.getAttribute("aria-label")).toContain("not seen");
    await page.keyboard.press("j");
    await page.locator("[role=row]:focus").waitFor();
    await page.keyboard.press("Enter");
    const thread = page.getByRole("region", { name: "Thread" });
    // Words of an agent are marked up, but never HTML, and nothing is fetched for them.
    await thread.locator("strong", { hasText: "Both" }).waitFor();
    await thread.locator("p", { hasText: "<img src=x onerror=alert(1)>" }).waitFor();
    expect(await page.locator("img").count()).toBe(0);
    expect(await thread.getByText("bad", { exact: true }).count()).toBe(0);
    expect(await thread.locator("a[href^='javascript']").count()).toBe(0);
    await project.until("the thread was seen", async () => {
      const marks = await project.read((tx) => tx.web.marks("mail:"));
      return marks.some(({ seenAt }) => seenAt !== null);
    });
    await page.locator("[role=row][aria-label^='Which database?']:not([aria-label*='not seen'])").waitFor();
    expect(await deliveries()).toEqual(before);
    await page.keyboard.press("2");
    await page.getByText("Decided: SQLite.").waitFor();
    const [answer] = await project.read((tx) => tx.messages.list({ type: "decision" }));
    expect(JSON.parse(answer?.payload ?? "{}")).toMatchObject({ option: "SQLite" });
    await thread.getByText("2 messages").waitFor();
  });

  test("a draft survives a reload, and the reply reaches its reader", async () => {
    const field = page.getByRole("textbox", { name: "Reply to b1" });
    await page.keyboard.press("Shift+R");
    await field.fill("Use the newest version.");
    await page.reload();
    await field.waitFor();
    expect(await field.inputValue()).toBe("Use the newest version.");
    await field.press("Control+Enter");
    await page.getByText("Reply sent to b1.").waitFor();
    expect(await field.inputValue()).toBe("");
    const [reply] = await project.read((tx) => tx.messages.list({ from: "operator", to: "b1", type: "status" }));
    expect(reply?.body).toBe("Use the newest version.");
  });

  test("a message is composed from the keyboard, and found in Sent, where it can be put away and brought back", async () => {
    await page.goto(`${live.origin}/mail?box=sent`);
    await page.locator("[role=row][aria-label^='Which database?']").waitFor();
    await page.keyboard.press("c");
    await page.getByLabel("To", { exact: true }).fill("b2");
    await page.getByLabel("Subject").fill("Hello");
    await page.getByRole("dialog").locator("textarea").fill("How far are you?");
    await page.getByRole("button", { name: "Send message" }).click();
    await page.getByText("Message sent to b2.").waitFor();
    // The pointer is over the list by now, so the new thread waits until it is asked for.
    await page.getByText("1 change, press . to apply").waitFor();
    await page.keyboard.press(".");
    await page.locator("[role=row][aria-label^='Hello']").waitFor();
    await page.keyboard.press("j");
    await page.locator("[role=row]:focus").waitFor();
    await page.locator("[role=row][aria-label^='Hello']").focus();
    await page.keyboard.press("#");
    await page.getByText("Put away until a new message comes: Hello.").waitFor();
    await page.locator("[role=row][aria-label^='Hello']").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Brought back: Hello.").waitFor();
    expect((await project.read((tx) => tx.messages.list({ from: "operator", to: "b2" })))[0]?.subject).toBe("Hello");
  });

  test("dead mail says why it is dead, is given to another reader, or sent again", async () => {
    const kill = async (subject: string): Promise<string> => {
      const { id } = await project.json(
        "mail",
        "send",
        "--to",
        "b2",
        "--subject",
        subject,
        "--body",
        "do it",
        "--type",
        "dispatch",
      );
      const store = openSqlite({ path: statePath(project.root, "overstory.db"), life: "process" });
      await store.transaction(async (tx) => {
        const message = await tx.messages.get(String(id));
        const [delivery] = await tx.deliveries.ofMessage(message?.seq ?? 0);
        if (delivery !== undefined)
          await tx.deliveries.update({ ...delivery, state: "dead", attempts: 5, lastError: "it crashed" });
      });
      await store.close();
      return String(id);
    };
    const stateOf = (id: string) =>
      project.read(async (tx) => (await tx.deliveries.ofMessage((await tx.messages.get(id))?.seq ?? 0))[0]?.state);
    const given = await kill("Given on");
    await page.goto(`${live.origin}/mail?box=dead`);
    await page.locator("[role=row][aria-label^='Given on']").click();
    await page.getByText("b2 never got it: it crashed (attempt 5).").waitFor();
    await page.getByLabel("Give it to").fill("operator");
    await page.getByRole("button", { name: "Redirect" }).click();
    await page
      .getByText("operator wrote this message")
      .or(page.getByText("Could not give it to operator"))
      .first()
      .waitFor();
    await page.getByLabel("Give it to").fill("b1");
    await page.getByRole("button", { name: "Redirect" }).click();
    await page.getByText("Given to b1.").waitFor();
    expect(await stateOf(given)).toBe("cancelled");
    const [copy] = await project.read((tx) => tx.messages.list({ to: "b1", type: "dispatch" }));
    expect(copy).toMatchObject({ subject: "Given on", replyTo: given });
    const again = await kill("Once more");
    await page.goto(`${live.origin}/mail?box=dead&thread=${again}`);
    await page.getByRole("button", { name: "Send again" }).click();
    await page.getByText("Sent to b2 again.").waitFor();
    expect(await stateOf(again)).not.toBe("dead");
  });

  test("lists, tables, quotes and code of a message keep their form; what nests without end is shown as it was written", async () => {
    const body = "1. one\n2. [x] two\n\n> quoted\n\n| h | i |\n|---|---|\n| 1 | 2 |\n\n```sh\na < b && c\n```";
    const { id } = await project.json("mail", "send", "--to", "b2", "--subject", "Forms", "--body", body);
    await page.goto(`${live.origin}/mail?box=all&thread=${id}`);
    const thread = page.getByRole("region", { name: "Thread" });
    await thread.locator("blockquote", { hasText: "quoted" }).waitFor();
    expect(await thread.locator("article ol li").allTextContents()).toEqual(["one", "☑ two"]);
    expect(await thread.locator("td").allTextContents()).toEqual(["1", "2"]);
    expect((await thread.locator("pre code").first().textContent())?.trim()).toBe("a < b && c");
    const deep = await project.json("mail", "send", "--to", "b2", "--subject", "Deep", "--body", ">".repeat(9_000));
    await page.goto(`${live.origin}/mail?box=all&thread=${deep.id}`);
    await thread.locator("p", { hasText: ">>>>>>" }).waitFor();
    expect(await thread.locator("blockquote").count()).toBe(0);
  });

  test("an empty box says why, and a filter that matches nothing can be cleared", async () => {
    await page.goto(`${live.origin}/mail?box=dead`);
    await page.getByText("Every message has reached its reader").waitFor();
    await page.goto(`${live.origin}/mail?box=all&q=nothing-like-this`);
    await page.getByText("No mail matches the filter.").waitFor();
    await page.getByRole("button", { name: "Clear filter" }).click();
    await page.locator("[role=row][aria-label^='Hello']").waitFor();
  });

  test("axe finds nothing serious, nothing scrolls sideways on a phone, and no page broke", async () => {
    const [first] = await project.read((tx) => tx.messages.list({ type: "decision_gate" }));
    const open = `${live.origin}/mail?box=all&thread=${first?.id}`;
    await page.goto(`${open}&peek=msg:${first?.id}`);
    await page.getByRole("complementary").getByText("Open the thread of").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await phoneWidths(page, [`${live.origin}/mail`, open, `${live.origin}/mail?compose=b2`])).toEqual([
      390, 390, 390,
    ]);
    expect(live.complaints).toEqual([]);
    await letGo(project);
  });
});
