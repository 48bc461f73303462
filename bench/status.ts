import { fillWithFleet } from "./fill.ts";
import { timeInterleaved } from "./interleaved.ts";
import { ms, row, times, verdict } from "./stats.ts";
import { benchProject, ov } from "./world.ts";

const agents = 500;
const rounds = 40;
const limit = 4;

/** What a look at a large fleet costs: `ov status --json` against a bare Bun. */
export async function main(): Promise<void> {
  await using project = await benchProject();
  await project.json("task", "create", "Anything");
  fillWithFleet(project.root, agents);
  const place = { cwd: project.root, env: { ...project.env } };
  const [bun, status] = timeInterleaved(
    [
      { name: "bun -e 0", command: [process.execPath, "-e", "0"] },
      { name: "ov status --json", command: [ov, "status", "--json"], ...place },
    ],
    rounds,
  );
  if (bun === undefined || status === undefined) return;
  const ratio = status.medianMs / bun.medianMs;
  console.log(row(`${agents} agents`, "median", "x bun -e 0", "limit", ""));
  console.log(row(bun.name, ms(bun.medianMs)));
  console.log(row(status.name, ms(status.medianMs), times(ratio), times(limit), verdict(ratio, limit)));
}
