import { type Answer, cutInto, type Dialect, type Frame, type Part, roleOf, type Schema, textIn } from "./dialect.ts";

/** Gemini: `POST /v1beta/models/<model>:generateContent`, and `:streamGenerateContent?alt=sse`. */
export const gemini: Dialect = {
  name: "gemini",
  paths: /\/models\/[^/]+:(generateContent|streamGenerateContent)$/,
  read: (body, path) => {
    const { contents, tools = [] } = body as GeminiRequest;
    return {
      model: /\/models\/([^/:]+)/.exec(path)?.[1] ?? "",
      streamed: path.endsWith(":streamGenerateContent"),
      turns: contents.map(({ role = "user", parts }) => ({ role: roleOf(role), text: textIn(parts) })),
      tools: tools
        .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
        .map(({ name, parameters, parametersJsonSchema }) => ({ name, schema: parametersJsonSchema ?? parameters })),
    };
  },
  whole: (answer) => chunk(answer, answer.parts.map(partOf), true),
  frames,
  refuse: ({ status, type = states[status] ?? "UNAVAILABLE", message = "as the script says", resetAfter }) => ({
    body: { error: { code: status, message, status: type, ...(resetAfter === undefined ? {} : limit(resetAfter)) } },
  }),
};

interface GeminiRequest {
  readonly contents: readonly { readonly role?: string; readonly parts: unknown }[];
  readonly tools?: readonly { readonly functionDeclarations?: readonly Declaration[] }[];
}

interface Declaration {
  readonly name: string;
  readonly parameters?: Schema;
  readonly parametersJsonSchema?: Schema;
}

const states: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
};

const limit = (seconds: number) => ({
  details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${seconds}s` }],
});

const partOf = (part: Part): object =>
  part.kind === "text"
    ? { text: part.text }
    : { functionCall: { id: `call_${part.id}`, name: part.name, args: part.input } };

function chunk(answer: Answer, parts: readonly object[], isLast: boolean): object {
  const { input, output, cacheRead, cacheWrite } = answer.usage;
  // Here what came from the cache is part of what was read.
  const read = input + cacheRead + cacheWrite;
  const counts = { promptTokenCount: read, candidatesTokenCount: output, totalTokenCount: read + output };
  return {
    candidates: [
      { index: 0, content: { role: "model", parts }, ...(isLast ? { finishReason: finishReason(answer) } : {}) },
    ],
    ...(isLast ? { usageMetadata: { ...counts, cachedContentTokenCount: cacheRead } } : {}),
    modelVersion: answer.model,
    responseId: `resp_${answer.number}`,
  };
}

const finishReason = ({ stop }: Answer): string =>
  stop === "refusal" ? "SAFETY" : stop === "max_tokens" ? "MAX_TOKENS" : "STOP";

/** Texts come in pieces; calls come whole, all in the last chunk. */
function frames(answer: Answer): readonly Frame[] {
  const texts = answer.parts.flatMap((part) => (part.kind === "text" ? cutInto(answer.pieces, part.text) : []));
  const calls = answer.parts.filter(({ kind }) => kind === "call").map(partOf);
  return [
    ...texts.map((text) => ({ data: chunk(answer, [{ text }], false), isPart: true })),
    { data: chunk(answer, calls.length > 0 ? calls : [{ text: "" }], true) },
  ];
}
