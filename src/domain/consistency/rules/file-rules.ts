import { newestPerName } from "../../agent/agent.ts";
import { type ProjectFacts, processKey, type SeenFile } from "../facts.ts";
import { breach, failing, type Inconsistency, warning } from "../finding.ts";

/** A process that writes such a file is done with it by then. */
const aWhileMs = 600_000;

/** The engine lets variables and bodies of mail go after a day, with a look each hour. Before that they are no finding. */
const keptMs = 25 * 3_600_000;

/** Rules about files of the state directory: their owners, their modes, leftovers. */
export function fileRules(facts: ProjectFacts): readonly Inconsistency[] {
  return [
    ...modes(facts),
    ...processFiles(facts),
    ...leftovers(facts),
    ...ownerless(facts),
    ...moves(facts),
    ...binding(facts),
    ...specifications(facts),
  ];
}

const pathOf = ({ place }: ProjectFacts, { path }: SeenFile): string =>
  path === "" ? place.state : `${place.state}/${path}`;

/** Files with secrets or with the means to act as the operator. */
const secretFiles =
  /^(overstory\.db(-wal|-shm)?|project\.json|trust\.json|run\/(env|contact)\/[^/]+|run\/(engine|keeper|judging|config)\.json|mail-blobs\/[^/]+|agents\/[^/]+\/turn\.pid)$/;
const secretDirs = /^(|run|run\/(env|contact|git)|agents|backups|mail-blobs|trash|logs)$/;

function modes(facts: ProjectFacts): readonly Inconsistency[] {
  return facts.files.entries.flatMap((file) => {
    const isSecret =
      file.kind === "directory" ? secretDirs.test(file.path) : file.kind === "file" && secretFiles.test(file.path);
    if (!isSecret || (file.mode & 0o077) === 0) return [];
    const path = pathOf(facts, file);
    const wanted = file.kind === "directory" ? 0o700 : 0o600;
    const says = `${path} has mode ${file.mode.toString(8)}; other users can reach it`;
    return [breach(openToOthers, file.path === "" ? "state" : file.path, says, { on: "mode", path, mode: wanted })];
  });
}

const openToOthers = failing("open-to-others", {
  affects: "other users of this machine may read mail, variables or the database, or act as you",
  does: "takes the access of others away",
});

function processFiles(facts: ProjectFacts): readonly Inconsistency[] {
  const { files, gone, engine } = facts;
  const dead = files.identities.flatMap(({ path, process, isElsewhere, ageMs }) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (isElsewhere) {
      return [
        breach(foreignNotice, name, `${path} is of an engine of another project`, { on: "delete", path } as const),
      ];
    }
    // A file that is only half there is being written, or its writer died.
    const isDead = process === null ? ageMs > aWhileMs : gone.has(processKey(process));
    return isDead
      ? [breach(deadNotice, name, `${path} names a process that is gone`, { on: "delete", path } as const)]
      : [];
  });
  const keeper = files.identities.find(({ path }) => path.endsWith("/keeper.json"))?.process;
  if (keeper == null || engine.keeper !== "alive" || engine.isAlive || engine.keeperAgeMs < keptInVainMs) return dead;
  const stray = breach(
    strayKeeper,
    String(keeper.pid),
    `process ${keeper.pid} is to restart the engine, and there is no engine`,
    { on: "end", process: keeper, turnId: null },
    { on: "delete", path: `${facts.place.state}/run/keeper.json` },
  );
  return [...dead, stray];
}

/** A keeper that is older than this has started its engine long ago. */
const keptInVainMs = 15_000;

const deadNotice = warning("file-of-gone-process", {
  affects: "commands look for the process first",
  does: "deletes the file",
  healedByEngine: true,
});
const foreignNotice = failing("file-of-other-project", {
  affects: "commands would speak to the engine of another project",
  does: "deletes the file",
});
const strayKeeper = warning("keeper-without-engine", {
  affects: "commands wait for an engine that does not come",
  does: "ends the keeper; the next command that needs an engine starts one",
});

function leftovers(facts: ProjectFacts): readonly Inconsistency[] {
  const { files } = facts;
  return files.entries.flatMap((file): readonly Inconsistency[] => {
    const path = pathOf(facts, file);
    const trash = { on: "trash", path } as const;
    const scratch = /^run\/git\/(?:view|files|link|unlink|ov-merge)-(\d+)-/.exec(file.path);
    if (scratch !== null && !file.path.slice("run/git/".length).includes("/")) {
      const isDead = files.gonePids.has(Number(scratch[1]));
      return isDead && file.ageMs > shortWhileMs
        ? [breach(scratchOfDead, file.path, `${path} is left of an operation that was killed`, trash)]
        : [];
    }
    const draft = /\.(\d+)\.[a-z0-9]{1,6}\.tmp$/.exec(file.path);
    if (draft !== null && file.kind === "file") {
      return files.gonePids.has(Number(draft[1]))
        ? [breach(draftOfDead, file.path, `${path} was being written by a process that is gone`, trash)]
        : [];
    }
    const lock = /^run\/keeper\.lock\.(\d+)$/.exec(file.path);
    if (lock !== null) {
      return files.gonePids.has(Number(lock[1]))
        ? [breach(draftOfDead, file.path, `${path} was being written by a process that is gone`, trash)]
        : [];
    }
    const isCopy = /^(overstory\.db\.(moving|restoring)|backups\/[^/]+\/overstory\.db\.copy)$/.test(file.path);
    if (isCopy && file.ageMs > aWhileMs)
      return [breach(halfCopy, file.path, `${path} is half a copy of the database`, trash)];
    const mark = /^trash\/(.+)\.work$/.exec(file.path);
    if (mark !== null && !files.entries.some((other) => other.path === `trash/${mark[1]}`)) {
      return [
        breach(emptyMark, file.path, `${path} marks an entry of the trash that is not there`, { on: "delete", path }),
      ];
    }
    return [];
  });
}

const shortWhileMs = 60_000;

const scratchOfDead = warning("scratch-of-killed-operation", {
  affects: "it takes room",
  does: "moves it to the trash",
  healedByEngine: true,
});
const draftOfDead = warning("half-written-file", { affects: "it takes room", does: "moves it to the trash" });
const halfCopy = { ...draftOfDead, rule: "half-copied-database" } as const;
const emptyMark = warning("mark-of-no-trash", { affects: "nothing but room", does: "deletes the mark" });

/** What belongs to an agent, a message or a check that does not exist. */
function ownerless(facts: ProjectFacts): readonly Inconsistency[] {
  const { rows, files } = facts;
  if (rows === null) return [];
  const names = new Set(newestPerName(rows.agents).map(({ name }) => name));
  const [blobs, environments] = [new Set(rows.blobs), new Set(rows.environments)];
  return files.entries.flatMap((file): readonly Inconsistency[] => {
    const path = pathOf(facts, file);
    const [dir, name = "", more] = file.path.split("/");
    if (more !== undefined && dir !== "run") return [];
    const trash = { on: "trash", path } as const;
    if (dir === "agents" && name !== "" && !names.has(name)) {
      return [breach(agentFiles, file.path, `${path} is of an agent that does not exist`, trash)];
    }
    if (dir === "logs" && name !== "" && name !== "merge" && file.kind === "directory" && !names.has(name)) {
      return [breach(agentFiles, file.path, `${path} is of an agent that does not exist`, trash)];
    }
    if (dir === "mail-blobs" && name.endsWith(".txt") && !blobs.has(path) && file.ageMs > keptMs) {
      return [breach(blobOfNothing, name, `${path} is the body of no message`, trash)];
    }
    const variables = /^run\/env\/([^/]+\.json)$/.exec(file.path)?.[1];
    if (variables !== undefined && !environments.has(path) && file.ageMs > keptMs) {
      return [
        breach(variablesWithoutAgent, variables, `${path} holds variables that no agent and no check needs`, {
          on: "delete",
          path,
        }),
      ];
    }
    return [];
  });
}

const agentFiles = warning("files-of-no-agent", { affects: "they take room", does: "moves them to the trash" });
const blobOfNothing = warning("body-of-no-message", {
  affects: "it takes room",
  does: "moves it to the trash",
  healedByEngine: true,
});
const variablesWithoutAgent = warning("variables-without-agent", {
  affects: "secrets of a shell lie on the disk without a use",
  does: "deletes the file; it was captured from a shell and holds no work",
  healedByEngine: true,
});

function moves(facts: ProjectFacts): readonly Inconsistency[] {
  const { files, engine, place } = facts;
  const dirs = files.entries.filter(
    ({ path, kind }) => kind === "directory" && /^run\/git\/moves\/move-[^/]+$/.test(path),
  );
  const staged = files.moves.length > 0 || engine.isAlive ? [] : dirs;
  return [
    ...files.moves.map(({ path, checkout, isOurs }) =>
      isOurs
        ? breach(halfMoved, checkout, `the checkout ${checkout} was being moved when the move was cut short`, {
            on: "finish",
          })
        : breach(forgedMove, path, `${path} is a plan to move a checkout that no move of ours has made`, {
            on: "trash",
            path,
          }),
    ),
    ...staged
      .filter(({ ageMs }) => ageMs > shortWhileMs)
      .map((file) =>
        breach(stagedFiles, file.path, `${place.state}/${file.path} was staged for a move that did not begin`, {
          on: "trash",
          path: pathOf(facts, file),
        }),
      ),
  ];
}

const halfMoved = failing("half-moved-checkout", {
  affects: "the branch and the files of that checkout may differ",
  does: "finishes the move, or takes it back where files were changed meanwhile",
  isOfEngine: true,
});
const forgedMove = warning("foreign-move-plan", {
  affects: "nothing: it is never followed",
  does: "moves it to the trash",
});
const stagedFiles = warning("staged-for-no-move", { affects: "it takes room", does: "moves it to the trash" });

function binding({ files, rows, place }: ProjectFacts): readonly Inconsistency[] {
  const { record } = files;
  if (record === null || rows?.projectId == null || record.id === rows.projectId) return [];
  const path = `${place.state}/project.json`;
  return [
    breach(otherProject, "project.json", `${path} names ${record.id}, and the database is of ${rows.projectId}`, {
      on: "trash",
      path,
    }),
  ];
}

const otherProject = failing("state-of-other-project", {
  affects: "a copy of this project could not be told from it",
  does: "moves the file to the trash; the next engine writes it again from the database",
});

function specifications({ files, rows }: ProjectFacts): readonly Inconsistency[] {
  return (rows?.specs ?? [])
    .filter(({ taskId }) => files.hiddenSpecs.has(taskId))
    .map(({ taskId, path }) =>
      breach(hiddenSpec, taskId, `the specification of ${taskId} is not at ${path}`, { on: "respec", taskId }),
    );
}

const hiddenSpec = warning("specification-not-shown", {
  affects: "people and agents look for a file that is not there",
  does: "writes the file again from the text that is kept",
});
