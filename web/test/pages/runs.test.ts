import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventsOf, letGo, slingNew } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage, phoneWidths, seriousFindings } from "../live-page.ts";

const scenario = `
- when: { agent: b2 }
  do:
    - shell: echo '<b>auth</b>'; until test -e "$HOME/go"; do sleep 0.2; done
    - say: done
- do:
    - say: done
`;

describe.skipIf(browserProgram === undefined)("the pages of runs", () => {
  let project: TestProject;
  let live: LivePage;
  let run = "";

  beforeAll(async () => {
    project = await makeProject({ scenario });
    live = await openPage(project);
  });
  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  test("without a run the list says how one begins, and comparing says that there is nothing to compare", async () => {
    await live.page.goto(`${live.origin}/runs`);
    await live.page.getByText("No run yet.").waitFor();
    await live.page.goto(`${live.origin}/runs/compare`);
    await live.page.getByText("There are fewer than two runs").waitFor();
  });

  test("the list opens a run by keyboard, and its drawing is walked by arrows and zoomed", async () => {
    const { page, origin } = live;
    await slingNew(project, "B1");
    await slingNew(project, "B2");
    await project.until("b2 used its tool", async () => (await eventsOf(project, "tool_start")).length > 0);
    await project.until(
      "b1 had a turn",
      async () => (await project.read((tx) => tx.spending.sums("agent", {}, 9))).length > 0,
    );
    run = (await project.read((tx) => tx.runs.current()))?.id ?? "";
    await page.goto(`${origin}/runs`);
    await page.locator("[role=row][aria-selected]").first().waitFor();
    await page.keyboard.press("j");
    await page.locator("[role=row]:focus").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/runs/${run}**`);
    const drawing = page.getByRole("group", { name: /^Agents over time/ });
    await drawing.focus();
    await page.keyboard.press("ArrowRight");
    await page
      .getByRole("status")
      .getByText(/^b1 (queued|starting|in turn)/)
      .waitFor();
    await page.keyboard.press("ArrowDown");
    await page.getByRole("status").getByText(/^b2 /).waitFor();
    await page.keyboard.press("+");
    await page.waitForURL(/from=\d+/);
    await page.keyboard.press("0");
    await page.waitForURL((url) => !url.search.includes("from="));
    expect(await seriousFindings(page)).toEqual([]);
  });

  test("the critical path is marked by its switch, told in words, and kept in the address", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/runs/${run}`);
    const marks = page.locator("svg [data-path]");
    await page.getByRole("checkbox", { name: "critical path" }).waitFor();
    expect(await marks.count()).toBe(0);
    await page.getByRole("checkbox", { name: "critical path" }).check();
    await page.getByText(/^The end depended on: /).waitFor();
    await marks.first().waitFor({ state: "attached" });
    expect(page.url()).toContain("path=shown");
    await page.getByRole("checkbox", { name: "critical path" }).uncheck();
    await marks.first().waitFor({ state: "detached" });
  });

  test("the table holds the same parts", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/runs/${run}?view=table`);
    await page.locator("[role=row][aria-label^='b2 in turn']").waitFor();
    await page.locator("[role=row][aria-label^='b1 in turn']").first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  test("a replay shows the fleet of a moment, steps by events, and Escape returns to now", async () => {
    const { page, origin } = live;
    const [first, last] = await project.read(async (tx) => [
      (await tx.events.first({ runId: run }, 1))[0]?.createdAt ?? 0,
      (await tx.events.newest({ runId: run, types: ["tool_start"] }, 1))[0]?.createdAt ?? 0,
    ]);
    await page.goto(`${origin}/runs/${run}?t=${last}`);
    await page.getByText(/^Replay .*Nothing can be changed here/).waitFor();
    const b2 = page.getByRole("grid", { name: "Agents at that moment" }).locator("[role=row][aria-label=b2]");
    // What an agent did is text, and never HTML.
    await b2.getByText("Bash echo '<b>auth</b>'").waitFor();
    await page.goto(`${origin}/runs/${run}?t=${first}`);
    await page.getByText("Last event:").waitFor();
    await page.keyboard.press("ArrowRight");
    await page.waitForURL((url) => Number(url.searchParams.get("t")) > first);
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.waitForURL((url) => !url.searchParams.has("t"));
  });

  test("two runs are compared on one scale, with a table of differences", async () => {
    const { page, origin } = live;
    await letGo(project);
    await project.settled();
    await project.json("run", "complete", "--force");
    await slingNew(project, "B3");
    await project.settled();
    await page.goto(`${origin}/runs`);
    await page.locator("[role=row][aria-selected]").first().waitFor();
    await page.keyboard.press("j");
    await page.locator("[role=row]:focus").waitFor();
    await page.keyboard.press("Space");
    await page.keyboard.press("Shift+ArrowDown");
    await page.getByText("2 selected").waitFor();
    await page.keyboard.press("c");
    await page.getByRole("row", { name: /^Agents 2 1 -1 \(-50 %\)/ }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  test("on a phone nothing scrolls sideways, and no page broke or met its content policy", async () => {
    const { page, origin, complaints } = live;
    const paths = ["/runs", `/runs/${run}`, `/runs/${run}?view=table`, `/runs/compare?a=${run}&b=${run}`];
    expect(
      await phoneWidths(
        page,
        paths.map((path) => origin + path),
      ),
    ).toEqual([390, 390, 390, 390]);
    expect(complaints).toEqual([]);
  });
});
