import { nearest } from "../name/nearest.ts";
import { invalid, type Refusal } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";

/** A place that offers the models of others in the words of a runtime's own provider. */
export interface Gateway {
  readonly baseUrl: string;
  /** Variable of the operator's shell that holds its token. */
  readonly tokenVariable: string;
  /** What the model is called there. */
  readonly model: string;
}

/** Beside its model, what an agent's program needs to reach it. Settled when the agent is spawned. */
export interface ModelTerms {
  readonly gateway: Gateway | null;
  /** What the program goes on with while the model is overloaded. */
  readonly fallback: string | null;
}

export interface ChosenModel {
  /** Null: the program's own default. */
  readonly model: string | null;
  /** Null when there is nothing to know. */
  readonly terms: ModelTerms | null;
}

interface ModelSettings {
  readonly models: Readonly<Record<string, string>>;
  readonly providers: Readonly<
    Record<
      string,
      { readonly type: string; readonly baseUrl?: string | undefined; readonly authTokenEnv?: string | undefined }
    >
  >;
  readonly runtime: { readonly fallbackModels: Readonly<Record<string, string>> };
  readonly runtimes: readonly {
    readonly runtime?: string;
    readonly modelAliases?: Readonly<Record<string, string>>;
  }[];
}

interface Wanted {
  /** The typed name; it counts before everything else. */
  readonly asked: string | undefined;
  readonly capability: string;
  readonly choice: {
    readonly runtime: string;
    readonly modelAliases?: Readonly<Record<string, string>>;
    readonly modelProvider?: string | undefined;
    readonly gateways?: boolean;
    readonly vendor?: string;
  };
}

/** The model of a new agent: the typed one, else the one of its capability, in the words of its runtime. */
export function chooseModel(settings: ModelSettings, wanted: Wanted): Result<ChosenModel, Refusal> {
  const { asked, capability, choice } = wanted;
  const fallback = settings.runtime.fallbackModels[choice.runtime] ?? null;
  if (asked?.trim() === "") {
    return no(invalid("model", "must not be empty; without --model the agent gets the model of its capability"));
  }
  const name = asked ?? settings.models[capability];
  if (name === undefined) return ok(chosen(null, null, fallback));
  const alias = choice.modelAliases?.[name];
  if (alias !== undefined) return ok(chosen(alias, null, fallback));
  // Models are set by capability, for every runtime alike, so a short name of another runtime does not count here.
  const isForeign = settings.runtimes.some(({ modelAliases = {} }) => Object.hasOwn(modelAliases, name));
  if (isForeign && asked === undefined) return ok(chosen(null, null, fallback));
  const slash = name.indexOf("/");
  const provider = slash < 0 ? undefined : settings.providers[name.slice(0, slash)];
  if (provider?.type !== "gateway") {
    const whole = slash < 0 && choice.modelProvider !== undefined ? `${choice.modelProvider}/${name}` : name;
    return ok(chosen(whole, null, fallback));
  }
  if (choice.gateways !== true) {
    const problem = `is a model of a gateway, which ${choice.runtime} cannot use; choose another runtime for it, or another model`;
    return no(invalid("model", problem, { value: name }));
  }
  const { baseUrl = "", authTokenEnv = "" } = provider;
  return ok(chosen(name, { baseUrl, tokenVariable: authTokenEnv, model: name.slice(slash + 1) }, fallback));
}

/**
 * What looks like a slip in the choice of a model. Nothing is refused for it: a program may know names that we do not, or
 * reach models of others by an address of its own.
 */
export function modelNotes(settings: ModelSettings, { asked, capability, choice }: Wanted): readonly string[] {
  const name = asked ?? settings.models[capability];
  const { runtime, modelAliases = {}, gateways, vendor } = choice;
  if (name === undefined || Object.hasOwn(modelAliases, name)) return [];
  const said = asked === undefined ? `models.${capability} is ${name}` : `the model is ${name}`;
  const owner = settings.runtimes.find((one) => Object.hasOwn(one.modelAliases ?? {}, name));
  if (owner !== undefined) {
    if (asked === undefined) return [];
    return [`${said}, a short name of ${owner.runtime ?? "another runtime"} that ${runtime} may not know`];
  }
  const slash = name.indexOf("/");
  const provider = slash < 0 ? undefined : name.slice(0, slash);
  if (provider !== undefined) {
    if (gateways !== true || Object.hasOwn(settings.providers, provider)) return [];
    const set = `ov config set providers.${provider}.baseUrl <address>, then authTokenEnv and type gateway`;
    return [
      `${said}, and ${provider} is no provider of this project: ${runtime} gets the name as it is; to add it: ${set}`,
    ];
  }
  const close = nearest(name, Object.keys(modelAliases));
  if (close !== undefined && !/\d/.test(name)) {
    return [`${said}, which is no short name of ${runtime}; did you mean ${close}?`];
  }
  const maker = makers.find(([names]) => names.test(name))?.[1];
  if (vendor === undefined || maker === undefined || maker === vendor) return [];
  return [
    `${said}, a model of ${maker}, and ${runtime} asks ${vendor}: its turns fail unless its settings say otherwise`,
  ];
}

const makers: readonly (readonly [RegExp, string])[] = [
  [/^claude-/, "Anthropic"],
  [/^(?:gpt-|o\d|codex-)/, "OpenAI"],
  [/^gemini-/, "Google"],
];

const chosen = (model: string | null, gateway: Gateway | null, fallback: string | null): ChosenModel => ({
  model,
  terms: gateway === null && fallback === null ? null : { gateway, fallback },
});
