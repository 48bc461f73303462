import { afterAll, beforeAll, expect, test } from "bun:test";
import { brokenInvariants, findInconsistencies } from "../../testkit/consistency.ts";
import { jsonOf } from "../../testkit/ov.ts";
import type { Case } from "./cases/planting.ts";
import { alone, batches } from "./cases.ts";
import { type DoctorWorld, makeDoctorWorld } from "./doctor.world.ts";

let world: DoctorWorld & AsyncDisposable;

beforeAll(async () => {
  world = await makeDoctorWorld(["waits", "waits2", "hands", "hands2", "frees"]);
  for (const token of ["PLANT.waits.commit", "PLANT.waits.loose", "PLANT.hands.commit", "PLANT.hands2.commit"]) {
    world.planted.add(token);
  }
}, 60_000);

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

interface Fix {
  readonly id: string;
  readonly outcome: string;
  readonly why: string | null;
}

/** Makes each of them, and expects that it is found, mended, and that all agrees afterwards with nothing lost. */
async function expectMended(cases: readonly Case[], ...fix: string[]): Promise<void> {
  expect(await brokenInvariants(world.root)).toEqual([]);
  for (const one of cases) await one.make(world);
  const wanted = cases.map(({ finds }) => (typeof finds === "string" ? finds : finds(world)));
  const found = (await findInconsistencies(world.root)).map(({ key }) => key);
  expect(wanted.filter((id) => !found.some((key) => key.startsWith(id)))).toEqual([]);
  const answer = await world.project.ov("doctor", "--fix", ...fix, "--yes", "--json");
  const fixes = jsonOf(answer).fixes as readonly Fix[];
  expect(fixes.filter(({ outcome }) => outcome !== "fixed" && outcome !== "engine")).toEqual([]);
  expect(wanted.filter((id) => !fixes.some((one) => one.id.startsWith(id)))).toEqual([]);
  await world.atRest();
  expect(await brokenInvariants(world.root)).toEqual([]);
  expect(await world.lost()).toEqual([]);
}

test("at least sixty ways in which things do not fit together are known", () => {
  const all = [...Object.values(batches).flat(), ...alone];
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  expect(all.length).toBeGreaterThanOrEqual(60);
});

for (const [of, cases] of Object.entries(batches)) {
  test(`${of}: each inconsistency is found and mended, and no planted string is lost`, async () => {
    await expectMended(cases);
  }, 60_000);
}

test.each(alone.map((one) => [one.name, one] as const))(
  "%s is found and mended by its id, and no planted string is lost",
  async (_, one) => {
    const id = typeof one.finds === "string" ? one.finds : one.finds(world);
    await expectMended([one], id);
  },
  60_000,
);
