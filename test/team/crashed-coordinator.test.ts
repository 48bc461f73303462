import { expect, test } from "bun:test";
import { crashOut, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

/** Each start of the coordinator leaves in the middle of its turn. */
const scenario = `
- when: { capability: coordinator }
  do:
    - say: I begin.
    - exit: 137
`;

test("a coordinator that crashed stands in status and inbox with its cause and the commands, in words people use", async () => {
  await using project = await makeProject({ scenario });
  await project.json("go", "Make it better", "--yes");
  await crashOut(project, "coordinator");
  const seen = [
    await project.ov("status"),
    await project.ov("inbox", "--peek"),
    await project.ov("coordinator", "status"),
  ];
  for (const { code, out } of seen) {
    expect(code).toBe(0);
    expect(out).toContain("crashed");
    expect(out).toContain("ov recover coordinator");
    for (const word of ["zombie", "settled by", "operator operator"]) expect(out).not.toContain(word);
  }
  for (const { out } of seen.slice(0, 2)) expect(out).toContain("ov logs coordinator");
}, 60_000);

test("ov coordinator status of a coordinator that could not log in says so, and what comes before it is recovered", async () => {
  await using project = await makeProject({ scenario: "- do: [{ fail: login }]\n" });
  await project.json("coordinator", "start", "--objective", "Make it better");
  await untilAgent(project, "coordinator", "zombie/crashed");
  const { out } = await project.ov("coordinator", "status");
  expect(out).toContain("did not accept the login");
  expect(out).toMatch(/log in.*then: ov recover coordinator/);
}, 60_000);
