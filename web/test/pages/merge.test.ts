import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { letGo, slingNew } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage } from "../live-page.ts";

/** Both change the same line, commit and then wait for an answer. */
const scenario = `
- when: { turn: 1 }
  do:
    - edit: { file: "menu.txt", write: "\${agent}\\n" }
    - commit: "work of \${agent}"
    - ov: [mail, send, --to, operator, --type, question, --subject, Wait, --body, until told]
`;
const gate = String.raw`printf '\033[32mbegun\033[0m\n'; until [ -e "$HOME/go" ]; do sleep 0.05; done; echo "error: none of ours"; seq 1 300; echo ended`;
const files = {
  "shared.txt": "first\nsame\n",
  "other.txt": "one\n",
  "menu.txt": "menu\n",
  "many.txt": "one\ntwo\nthree\nfour\nfive\n",
};

const seriousFindings = `axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
  violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => location.pathname + location.search + " " + id + ": " + nodes[0].html.slice(0, 200)))`;

async function branch(project: TestProject, name: string, file: string, text: string): Promise<void> {
  await project.git("checkout", "--quiet", "-b", name, "main");
  await Bun.write(join(project.root, file), text);
  await project.git("commit", "--quiet", "-am", `work of ${name}`);
  await project.git("checkout", "--quiet", "main");
}

describe.skipIf(browserProgram === undefined)("the page Merge in a real browser", () => {
  let project: TestProject;
  let live: LivePage;
  let page: Page;
  let origin: string;
  const ids: Record<string, number> = {};
  const findings = async () => {
    await page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
    return page.evaluate<string[]>(seriousFindings);
  };
  const entry = (name: string) => project.read((tx) => tx.merges.get(ids[name] ?? 0));
  const until = (name: string, status: string) =>
    project.until(`${name} was ${status}`, async () => (await entry(name))?.status === status);
  const row = (name: string) => page.getByRole("row", { name: `Merge ${ids[name]} of ${name}:` });

  beforeAll(async () => {
    project = await makeProject({ files, gates: [gate], scenario });
    await slingNew(project, "B1");
    await slingNew(project, "B2");
    await branch(project, "a", "shared.txt", "first of a\nsame\n");
    await branch(project, "b", "shared.txt", "first of b\nsame\n");
    await branch(project, "c", "other.txt", "two\n");
    live = await openPage(project);
    ({ page, origin } = live);
  }, 60_000);

  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  test("an empty queue says why it is empty, and branches appear in it when they come", async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await page.getByText("The queue is empty. Branches arrive when a lead sends merge_ready.").waitFor();
    for (const name of ["a", "b", "c"]) ids[name] = Number((await project.json("merge", "add", name)).id);
    for (const name of ["a", "b", "c"]) await row(name).waitFor();
    await page.getByRole("link", { name: "Merge 3 waiting for you" }).waitFor();
  });

  test("the queue is paused and resumed, which the page, the inbox and the store say", async () => {
    await page.getByRole("button", { name: "Pause queue" }).click();
    await page.getByText("Nothing lands before it is resumed.").first().waitFor();
    expect(await project.read((tx) => tx.merges.pause())).toMatchObject({ pausedBy: "operator", reason: null });
    await page.keyboard.press("i");
    await page.getByRole("button", { name: "Resume the queue" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Pause queue" }).waitFor();
    expect(await project.read((tx) => tx.merges.pause())).toBeUndefined();
    await page.goto(`${origin}/merge`);
    await row("a").waitFor();
  });

  test("a branch is dragged above or below another one, which says what that does before it is let go", async () => {
    await row("c").hover();
    await page.mouse.down();
    const box = await row("b").boundingBox();
    for (const step of [4, 8, 12]) await page.mouse.move((box?.x ?? 0) + 40 + step, (box?.y ?? 0) + step, { steps: 3 });
    await page.getByText(`Priority 1: #${ids.c} lands before #${ids.b}`).waitFor();
    await page.mouse.up();
    await page.getByText(`Merge ${ids.c} has priority 1 now.`).first().waitFor();
    expect(await entry("c")).toMatchObject({ priority: 1 });
    await page.mouse.move(0, 0);
    await page.getByRole("button", { name: "Undo", exact: true }).first().click();
    await page.getByText(`Merge ${ids.c} has priority 2 now.`).first().waitFor();
    expect(await entry("c")).toMatchObject({ priority: 2 });
    await page.goto(`${origin}/merge`);
    await row("a").waitFor();
  });

  test("by keyboard alone a branch is made more urgent and approved; its train shows the gate that runs", async () => {
    await page.keyboard.press("j");
    await page.locator(`[role=row][aria-label^="Merge ${ids.a} "]:focus`).waitFor();
    await page.keyboard.press("Alt+ArrowUp");
    await page.getByText(`Merge ${ids.a} has priority 1 now.`).first().waitFor();
    expect(await entry("a")).toMatchObject({ priority: 1 });
    await page.keyboard.press("a");
    await page.getByText(`Approved merge ${ids.a}; it joins the next train.`).first().waitFor();
    const train = page.getByRole("region", { name: /^Train onto/ });
    await train.getByText("runs").waitFor();
    await train.getByRole("link", { name: "Log" }).click();
    await page.getByRole("log").getByText("begun").waitFor();
    await page.getByText("following").waitFor();
  });

  test("the log follows the gate while its end is in sight, and finds the first error", async () => {
    await letGo(project);
    await until("a", "merged");
    await page.getByText("landed without a conflict").waitFor();
    const log = page.getByRole("log");
    await page.getByText("303 lines").waitFor();
    await log.getByText("ended").waitFor();
    await page.keyboard.press("e");
    await log.getByText("error: none of ours").waitFor();
    expect(page.url()).toContain("ln=2");
    await page.getByRole("searchbox", { name: "Find in the log" }).fill("299");
    await page.getByText("1 line", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
  });

  test("a conflict shows its sides, the base by a key, and what can be done; the entry is cancelled", async () => {
    await page.goto(`${origin}/merge/${ids.b}`);
    await page.getByRole("button", { name: "Approve" }).click();
    await until("b", "conflict");
    await page.goto(`${origin}/merge/${ids.b}`);
    await page.getByText("first of a").waitFor();
    await page.getByText("first of b").waitFor();
    await page.getByText("Settle it on the branch yourself, with 6 commands").click();
    const commands = page.locator("details li code");
    expect(await commands.allTextContents()).toEqual([
      `git worktree add ../merge-${ids.b} b`,
      `cd ../merge-${ids.b}`,
      expect.stringMatching(/^git merge --ff /),
      "git add --all && git commit --no-edit",
      `ov merge retry ${ids.b}`,
      `cd - && git worktree remove ../merge-${ids.b}`,
    ]);
    await page.getByRole("button", { name: /^Copy command: ov merge retry/ }).waitFor();
    expect(await page.getByRole("figure").count()).toBe(2);
    await page.keyboard.press("b");
    await page.getByText("before both").waitFor();
    await page.getByRole("button", { name: "Cancel..." }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: `Cancel merge ${ids.b}` })
      .click();
    await until("b", "cancelled");
  });

  test("the diff of an entry shows its changed lines, before and after it has landed", async () => {
    for (const [name, line, now] of [
      ["c", "one", "two"],
      ["a", "first", "first of a"],
    ] as const) {
      await page.goto(`${origin}/merge/${ids[name]}`);
      await page.getByRole("heading", { name: `#${ids[name]}` }).waitFor();
      await page.keyboard.press("3");
      await page.waitForURL("**tab=diff**");
      const changes = page.getByRole("region", { name: "Changes" });
      await changes.getByText(line, { exact: true }).waitFor();
      await changes.getByText(now, { exact: true }).waitFor();
    }
  });

  test("a rejection needs a reason, and the reason is stored", async () => {
    await page.goto(`${origin}/merge`);
    await row("c").waitFor();
    await page.keyboard.press("j");
    await page.locator("[role=row]:focus").waitFor();
    await page.keyboard.press("x");
    const dialog = page.getByRole("dialog");
    const verb = dialog.getByRole("button", { name: `Reject merge ${ids.c}` });
    expect(await verb.getAttribute("aria-disabled")).toBe("true");
    await page.keyboard.type("the number is wrong");
    await verb.click();
    await until("c", "failed");
    expect(await entry("c")).toMatchObject({ approval: "denied", causeDetail: { message: "the number is wrong" } });
  });

  test("the inbox asks for the reason of a rejection too", async () => {
    await branch(project, "d", "other.txt", "three\n");
    ids.d = Number((await project.json("merge", "add", "d")).id);
    await page.goto(`${origin}/`);
    await page.getByRole("main").getByRole("button", { name: "reject" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Your reason" }).fill("not now");
    await dialog.getByRole("button", { name: "Reject" }).click();
    await until("d", "failed");
    expect(await entry("d")).toMatchObject({ causeDetail: { message: "not now" } });
  });

  test("the history says what an undo does before it is done, and the undo is done", async () => {
    await page.goto(`${origin}/merge?view=history`);
    await page.getByRole("row", { name: "the landing of a" }).waitFor();
    await page.keyboard.press("j");
    await page.locator("[role=row]:focus").waitFor();
    await page.keyboard.press("u");
    const dialog = page.getByRole("dialog", { name: "Undo the landing of a?" });
    await dialog.getByText(/^overstory\/integration\/\S+ goes back from/).waitFor();
    await dialog.getByRole("button", { name: "Undo", exact: true }).click();
    await until("a", "reverted");
    await page.getByText("Landed, taken back").waitFor();
  });

  test("the radar shows two agents that would collide, and a mail goes to both", async () => {
    await page.keyboard.press("3");
    await page.getByRole("button", { name: "b2 and b1: conflict, 1 file" }).click();
    await page.getByText("menu.txt").waitFor();
    expect(page.url()).toContain("pair=");
    await page.getByRole("button", { name: "Mail both" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Mail b1 and b2" }).click();
    await page.getByText("Message sent to b2.").waitFor();
    const sent = await project.read(async (tx) =>
      (await tx.messages.list({})).filter(({ fromAgent }) => fromAgent === "operator"),
    );
    expect(
      sent
        .filter(({ subject }) => subject.includes("change the same files"))
        .map(({ address }) => address)
        .toSorted(),
    ).toEqual(["b1", "b2"]);
    await page.goto(`${origin}/merge`);
    await page.locator("[data-connection=live]").waitFor();
    await page.keyboard.press("i");
    const item = page.getByRole("dialog", { name: "Needs you" }).getByRole("listitem");
    const ahead = item.filter({ hasText: "b1 and b2 change the same part of menu.txt" });
    await ahead.getByRole("link", { name: "Open" }).click();
    await page.waitForURL("**/merge?view=radar");
  });

  test("a conflict is settled by keys and by hand between its sides; the result passes the gates and lands", async () => {
    const both = (middle: string) => `one\n${middle}\nfive\n`;
    await branch(project, "e", "many.txt", both("of e\nthree\nend of e"));
    await branch(project, "f", "many.txt", both("of f\nthree\nend of f"));
    for (const name of ["e", "f"]) {
      ids[name] = Number((await project.json("merge", "add", name)).id);
      await project.ov("merge", "--branch", name);
    }
    await until("f", "conflict");
    await page.goto(`${origin}/merge/${ids.f}`);
    const accept = page.getByRole("button", { name: "Accept and run gates" });
    await page.getByText("2 places left").waitFor();
    expect(await accept.getAttribute("aria-disabled")).toBe("true");
    await page.keyboard.press("t");
    await page.getByText("from the target", { exact: true }).waitFor();
    await page.getByText("1 place left").waitFor();
    await page.keyboard.press("j");
    await page.waitForURL("**hunk=2**");
    await page.keyboard.press("y");
    await page.getByText("Nothing lands before it has passed the gates").waitFor();
    await page.keyboard.press("e");
    const result = page.getByRole("textbox", { name: "Result, place 2 of 2 of many.txt" });
    expect(await result.inputValue()).toBe("end of f");
    await page.keyboard.press("End");
    await page.keyboard.type(" and of e");
    await page.getByText("written by you").waitFor();
    // A draft survives a reload.
    await page.reload();
    await result.waitFor();
    expect(await result.inputValue()).toBe("end of f and of e");
    expect(await findings()).toEqual([]);
    await accept.click();
    await page
      .getByText(/^Settled the conflicts of f; as merge \d+ it goes to the gates\.$/)
      .first()
      .waitFor();
    ids.f = Number(/\/merge\/(\d+)/.exec(page.url())?.[1]);
    await until("f", "merged");
    const commit = (await entry("f"))?.resultCommit;
    expect(await project.git("show", `${commit}:many.txt`)).toBe(both("of e\nthree\nend of f and of e"));
  });

  test("gates are run on a branch that a person names, and how they ended is told", async () => {
    await page.goto(`${origin}/merge`);
    await page.getByRole("button", { name: "Run gates on..." }).click();
    await page.getByLabel("Branch, commit or agent").fill("c");
    await page.keyboard.press("Enter");
    await page.getByText(/^The gates passed on c\./).waitFor();
    await page.getByRole("button", { name: "Run gates on..." }).click();
    await page.getByLabel("Branch, commit or agent").fill("no-such-branch");
    await page.keyboard.press("Enter");
    await page.getByText(/^(The gates did not pass|Could not run the gates) on no-such-branch/).waitFor();
  });

  test("on a phone nothing scrolls sideways, axe finds nothing serious, and no page broke", async () => {
    const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
    const addresses = [
      "/merge",
      "/merge?view=history",
      "/merge?view=radar",
      `/merge/${ids.a}`,
      `/merge/${ids.c}?tab=conflicts`,
      `/merge/${ids.a}?tab=attempts`,
      `/merge/${ids.a}?tab=diff`,
      `/merge?peek=merge:${ids.a}`,
    ];
    const found: string[] = [];
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 844 });
      for (const path of addresses) {
        await page.goto(origin + path);
        await page.locator("h1").first().waitFor();
        await page.waitForTimeout(200);
        const scrolled = await page.evaluate<number>("document.documentElement.scrollWidth");
        if (scrolled > width) found.push(`${path} is ${scrolled} wide at ${width}`);
        if (width < 1000) continue;
        await page.evaluate(axe);
        found.push(...(await page.evaluate<string[]>(seriousFindings)));
      }
    }
    expect(found).toEqual([]);
    expect(live.complaints).toEqual([]);
  }, 60_000);

  test("a viewer sees everything, and every act says why it is off", async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    const { url } = await project.json("serve", "login", "--role", "viewer");
    await page.goto(String(url));
    await page.getByText("live, viewer").waitFor();
    await page.goto(`${origin}/merge/${ids.c}`);
    const again = page.getByRole("button", { name: "Try again" });
    expect(await again.getAttribute("aria-disabled")).toBe("true");
    await again.hover();
    await page.getByRole("tooltip", { name: "Your token can look, not act." }).waitFor();
  });
});
