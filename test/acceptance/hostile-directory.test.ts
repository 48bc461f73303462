import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject } from "../../testkit/project.ts";
import { caught, hotCommands, programs, run, runHotCommands, setTraps } from "./hostile.world.ts";

for (const [name, program] of Object.entries(programs)) {
  test(`${name} runs and believes nothing that lies in the directory it is started in`, async () => {
    await using clean = await makeProject();
    await using hostile = await makeProject();
    const marker = join(hostile.state, "marker");
    setTraps(hostile.root, marker);
    const [expected, said] = await Promise.all([runHotCommands(program(), clean), runHotCommands(program(), hostile)]);
    expect(said).toEqual(expected);
    const codes = expected.map((line) => Number(/: (\d+)$/.exec(line.split("\n")[0] ?? "")?.[1]));
    expect(codes).toEqual(hotCommands.map(({ code = 0 }) => code));
    expect(caught(marker)).toEqual([]);
  }, 120_000);
}

test("the traps are real: plain Bun falls into every one of them", async () => {
  await using project = await makeProject({ bare: true });
  const marker = join(project.state, "marker");
  setTraps(project.root, marker);
  writeFileSync(
    join(project.root, "x.ts"),
    'import "yaml";\nimport "#x";\nconsole.log(process.env.OVERSTORY_TOKEN);\n',
  );
  await run([process.execPath, "x.ts"], project);
  expect(caught(marker)).toEqual(["paths"]);
  // That one is so strong that it hides the others.
  const noPaths = join(project.home, "tsconfig.json");
  writeFileSync(noPaths, "{}");
  const plain = await run([process.execPath, `--tsconfig-override=${noPaths}`, "x.ts"], project);
  expect(plain).toMatchObject({ code: 0, out: "forged\n" });
  expect(caught(marker)).toEqual(["imports", "node_modules/yaml", "paths", "preload"]);
});
