import type { Shape } from "../../domain/name/name.ts";
import { choice, optionalText } from "./key.ts";

const variableName: Shape = {
  must: "the name of an environment variable, such as OPENROUTER_API_KEY",
  fits: (name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name),
};

export const webAddress: Shape = {
  must: "an address that begins with http:// or https://",
  fits: (address) => /^https?:\/\/[^\s/]+\S*$/.test(address),
};

/** Which models agents use, and where the models are. */
export const modelKeys = {
  "models.*": optionalText({
    doc: "Model of the agents of one capability: a name that their runtime knows, or <provider>/<model> for a gateway of providers.*. It counts more than the model in .overstory/agent-manifest.json. opus, sonnet and haiku are names of Claude Code; other runtimes then use their own default.",
  }),
  "providers.*.type": choice(["native", "gateway"], {
    doc: "How agents reach the models <provider>/<model>. gateway: those of Claude Code at another address. native: the runtime does by itself.",
    default: "native",
    entries: { anthropic: "native" },
  }),
  "providers.*.baseUrl": optionalText({ doc: "Address of a gateway.", shape: webAddress }),
  "providers.*.authTokenEnv": optionalText({
    doc: "Variable of your shell that holds the token of a gateway. Agents on other models do not get it.",
    shape: variableName,
  }),
  "runtime.fallbackModels.*": optionalText({
    doc: "Models that agents of one runtime go on with while theirs is overloaded, with commas between them. Claude Code alone can.",
  }),
  "runtime.pi.provider": optionalText({ doc: "Provider of models for Pi that are named without one." }),
  "runtime.pi.modelMap.*": optionalText({ doc: "What Pi is told in place of a model's name, such as sonnet." }),
};
