import { describe, expect, test } from "bun:test";
import { type ExitTriggerSettings, exitTriggers } from "../../src/domain/coordination/exit-triggers.ts";
import { hostTrackers } from "../../src/host/trackers/trackers.ts";
import { checkTriggers, readTracker } from "../../src/usecases/coordinators/check-complete.ts";
import { startCoordinator } from "../../src/usecases/coordinators/start.ts";
import { sendMail } from "../../src/usecases/mail/send.ts";
import { createTask } from "../../src/usecases/tasks/change-tasks.ts";
import { untilTurns } from "../../testkit/lifecycle.ts";
import { jsonOf } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { plainPath, trackerFixtures } from "../../testkit/trackers/fixture.ts";
import { storedAgent, type UseCaseWorld, useCaseWorld } from "../../testkit/use-case.ts";

/** A: all agents are done. T: the task tracker is empty. S: a shutdown was asked for. */
const holding = ["---", "A--", "-T-", "--S", "AT-", "A-S", "-TS", "ATS"] as const;
type Triple = (typeof holding)[number];

/** Is the run complete? A line for what is switched on, in it a place for what holds, in the order above. */
const complete: Readonly<Record<Triple, string>> = {
  "---": "no  no  no  no  no  no  no  no",
  "A--": "no  yes no  no  yes yes no  yes",
  "-T-": "no  no  yes no  yes no  yes yes",
  "--S": "no  no  no  yes no  yes yes yes",
  "AT-": "no  no  no  no  yes no  no  yes",
  "A-S": "no  no  no  no  no  yes no  yes",
  "-TS": "no  no  no  no  no  no  yes yes",
  ATS: "no  no  no  no  no  no  no  yes",
};

const trackers = ["native", "seeds", "beads"] as const;
type Name = (typeof trackers)[number];

const flagsOf = (triple: Triple): ExitTriggerSettings => ({
  allAgentsDone: triple.includes("A"),
  taskTrackerEmpty: triple.includes("T"),
  onShutdownSignal: triple.includes("S"),
});

describe.each(trackers)("with the tracker %s, by all that may be switched on", (name) => {
  test.each(holding)("a run of which %s holds is complete as the table says", async (holds) => {
    await using world = useCaseWorld();
    await runWhere(world, flagsOf(holds));
    const ask = await trackerOf(world, name, flagsOf(holds).taskTrackerEmpty);
    const answers: Record<string, string> = {};
    for (const on of holding) {
      const triggers = flagsOf(on);
      const checked = await check(world, triggers, await ask(triggers.taskTrackerEmpty));
      answers[on] = checked.complete ? "yes" : "no";
      // A tracker of others is not started for a trigger that is switched off, and then holds for nobody.
      const isKnown = name === "native" || triggers.taskTrackerEmpty;
      const met = flagsOf(holds);
      const expected = { ...met, taskTrackerEmpty: isKnown && met.taskTrackerEmpty };
      expect(trueOnes(checked.triggers, "enabled")).toEqual(triggers);
      expect(trueOnes(checked.triggers, "met")).toEqual(expected);
      expect(checked.failures).toEqual([{ name: "dead", capability: "builder", outcome: "crashed" }]);
    }
    const place = holding.indexOf(holds);
    const wanted = holding.map((on) => [on, complete[on].split(/ +/)[place]]);
    expect(answers).toEqual(Object.fromEntries(wanted));
    if (name !== "native") expect(trackerFixtures[name].asked(world.dir)).toBe(4);
  });
});

/** A run with one agent that died, one that is done or not, and a coordinator that has read all its mail. */
async function runWhere(world: UseCaseWorld, holds: ExitTriggerSettings): Promise<void> {
  const { runId } = await world.must(startCoordinator, { capability: "coordinator", environment: {} });
  const subject = holds.onShutdownSignal ? "Shutdown, please" : "Go on, please";
  await world.must(sendMail, { to: "coordinator", subject, body: "That is all." });
  await world.store.transaction(async (tx) => {
    for (const { delivery } of await tx.deliveries.inState("coordinator", ["queued"])) {
      await tx.deliveries.update({ ...delivery, state: "acked", ackedAt: 1 });
    }
    await tx.agents.reserve(storedAgent("dead", { runId, state: "zombie", outcome: "crashed" }));
    const ended = { state: "completed", outcome: "done", releasedAt: 5 } as const;
    await tx.agents.reserve(storedAgent("b1", { runId, ...(holds.allAgentsDone ? ended : {}) }));
  });
}

/** Gives the world a tracker that is empty or not; answers how `ov` finds and asks it. */
async function trackerOf({ dir, must }: UseCaseWorld, name: Name, isEmpty: boolean) {
  const reading = (path: string) => (counts: boolean) =>
    readTracker(hostTrackers({ root: dir, env: { PATH: path } }), { backend: "auto", counts });
  if (name === "native") {
    if (!isEmpty) await must(createTask, { id: "T1", title: "One" });
    return reading(plainPath);
  }
  const fixture = trackerFixtures[name];
  fixture.answers(dir, isEmpty ? fixture.ready() : fixture.ready("app-1"));
  return reading(fixture.path);
}

async function check(
  world: UseCaseWorld,
  triggers: ExitTriggerSettings,
  tracker: Awaited<ReturnType<typeof readTracker>>,
) {
  const context = world.context();
  const settings = { ...context.settings, coordinator: { ...context.settings.coordinator, exitTriggers: triggers } };
  const request = { capability: "coordinator", tracker } as const;
  const checked = await world.store.read((tx) => checkTriggers.run(tx, { ...context, settings }, request));
  if (!checked.ok) throw new Error(`refused: ${JSON.stringify(checked.refusal)}`);
  return checked.value;
}

const trueOnes = <K extends string>(results: Readonly<Record<string, Readonly<Record<K, unknown>>>>, key: K) =>
  Object.fromEntries(exitTriggers.map((trigger) => [trigger, results[trigger]?.[key]]));

describe("ov coordinator check-complete", () => {
  const scenario = "- when: { capability: coordinator }\n  do: [{ say: Noted. }]\n";
  const triggers = "coordinator:\n  exitTriggers:\n    taskTrackerEmpty: true\n    onShutdownSignal: true\n";
  const asked = async (project: TestProject, env: Readonly<Record<string, string>> = {}) => {
    const answer = await project.ovWith({ env }, "coordinator", "check-complete", "--exit-code", "--json");
    return { code: answer.code, ...jsonOf(answer) };
  };
  const shutDown = async (project: TestProject) => {
    await project.json("coordinator", "start");
    await untilTurns(project, "coordinator", 1);
    await project.json("coordinator", "send", "--subject", "shutdown", "--body", "That is all.");
    await untilTurns(project, "coordinator", 2);
    await project.settled();
  };

  test("counts our own tasks alone when taskTracker.backend is native, though another tracker is there", async () => {
    const { path, ...seeds } = trackerFixtures.seeds;
    const config = `${triggers}taskTracker:\n  backend: native\n`;
    await using project = await makeProject({ scenario, config, env: { PATH: path } });
    seeds.answers(project.root, seeds.ready("app-1"));
    await shutDown(project);
    expect(await asked(project)).toMatchObject({ code: 0, complete: true });
    await project.json("task", "create", "More", "--id", "T1");
    expect(await asked(project)).toMatchObject({
      code: 5,
      complete: false,
      triggers: { taskTrackerEmpty: { enabled: true, met: false, detail: "ready to be started: T1" } },
    });
    expect(seeds.asked(project.root)).toBe(0);
  }, 60_000);

  test.each(["seeds", "beads"] as const)(
    "finds %s, asks it, and says when it cannot",
    async (name) => {
      const fixture = trackerFixtures[name];
      await using project = await makeProject({ scenario, config: triggers, env: { PATH: fixture.path } });
      const detailed = (met: boolean, detail: string) => ({
        code: met ? 0 : 5,
        complete: met,
        triggers: { taskTrackerEmpty: { enabled: true, met, detail }, onShutdownSignal: { met: true } },
      });
      fixture.answers(project.root, fixture.ready("app-1", "app-2"));
      await shutDown(project);
      expect(fixture.asked(project.root)).toBe(0);
      expect(await asked(project)).toMatchObject(detailed(false, `ready to be started in ${name}: app-1, app-2`));
      fixture.answers(project.root, fixture.ready());
      expect(await asked(project)).toMatchObject(detailed(true, `no task is ready, neither here nor in ${name}`));
      fixture.answers(project.root, "echo locked >&2; exit 3");
      const line = `${fixture.program} ready --json`;
      const failed = `\`${line}\` exited 3: locked; to see why, type: ${line}`;
      expect(await asked(project)).toMatchObject(detailed(false, failed));
      expect((await project.ov("coordinator", "check-complete")).out).toContain(failed);
      expect(fixture.asked(project.root)).toBe(4);

      const off = { OVERSTORY__COORDINATOR__EXIT_TRIGGERS__TASK_TRACKER_EMPTY: "false" };
      expect(await asked(project, off)).toMatchObject({
        complete: true,
        triggers: { taskTrackerEmpty: { enabled: false, met: false } },
      });
      expect(fixture.asked(project.root)).toBe(4);

      const bare = { PATH: project.home };
      expect(await asked(project, bare)).toMatchObject(detailed(true, "no task is ready"));
      const missing = `${name} cannot be asked, because ${fixture.program} is not on the PATH: install it, or type: ov config set taskTracker.backend native`;
      expect(await asked(project, { ...bare, OVERSTORY__TASK_TRACKER__BACKEND: name })).toMatchObject(
        detailed(false, missing),
      );
    },
    60_000,
  );
});
