import { ok } from "../../domain/result.ts";
import { noFields } from "../../domain/schema/schema.ts";
import type { Effect } from "../operation.ts";
import { companions } from "./machine-checks.ts";

export interface Versions {
  readonly program: string;
  /** Null when no engine runs. */
  readonly engine: string | null;
  /** Null where nothing was stored yet. */
  readonly database: number | null;
  /** The version of a database that this program works with. */
  readonly newest: number;
}

/** The versions of the running engine and the database, compared with this program's. Changes nothing. */
export const showVersions: Effect<object, Versions> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => {
    const control = await world.engineControl();
    const health = (await world.projectSurvey()).database();
    const engine = control.contact.notice()?.version ?? null;
    const { newest } = health;
    return ok({ program: world.version, engine, database: health.exists ? health.version : null, newest });
  },
};

export interface Companion {
  readonly name: string;
  readonly cli: string;
  /** The first version number that it prints; null when the program is missing, or prints none. */
  readonly version: string | null;
  readonly isInstalled: boolean;
}

/** The companion tools of 0.11, as they are on this machine. None of them is needed. */
export const listCompanions: Effect<object, readonly Companion[]> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => {
    const survey = await world.projectSurvey();
    const found = await Promise.all(
      companions.map(async ({ name, cli }) => {
        const answer = await survey.versionOf(cli, ["--version"]);
        const version = /\d+\.\d+\.\d+/.exec(answer ?? "")?.[0] ?? null;
        return { name, cli, version, isInstalled: answer !== null };
      }),
    );
    return ok([{ name: "overstory", cli: "ov", version: world.version, isInstalled: true }, ...found]);
  },
};
