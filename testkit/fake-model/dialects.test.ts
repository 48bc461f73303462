import { describe, expect, test } from "bun:test";
import { clients, eventsIn, type Json, type Said } from "./clients.ts";
import type { Step } from "./script.ts";
import { startFakeModel } from "./server.ts";

const stops: Readonly<Record<string, readonly string[]>> = {
  messages: ["tool_use", "end_turn", "refusal"],
  responses: ["completed", "completed", "content_filter"],
  chat: ["tool_calls", "stop", "content_filter"],
  gemini: ["STOP", "STOP", "SAFETY"],
};

const counted: Readonly<Record<string, Json>> = {
  messages: { input_tokens: 7, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 },
  responses: {
    input_tokens: 12,
    input_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
    output_tokens: 5,
    total_tokens: 17,
  },
  chat: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17, prompt_tokens_details: { cached_tokens: 3 } },
  gemini: { promptTokenCount: 12, candidatesTokenCount: 5, totalTokenCount: 17, cachedContentTokenCount: 3 },
};

const refusals: Readonly<Record<string, Readonly<Record<number, readonly unknown[]>>>> = {
  messages: {
    401: ["authentication_error", "as the script says"],
    429: ["rate_limit_error", "as the script says"],
    500: ["api_error", "as the script says"],
    529: ["overloaded_error", "as the script says"],
  },
  responses: {
    401: ["invalid_request_error", "invalid_api_key", "as the script says"],
    429: ["requests", "rate_limit_exceeded", "as the script says"],
    500: ["server_error", null, "as the script says"],
    529: ["server_error", null, "as the script says"],
  },
  chat: {
    401: ["invalid_request_error", "invalid_api_key", "as the script says"],
    429: ["requests", "rate_limit_exceeded", "as the script says"],
    500: ["server_error", null, "as the script says"],
    529: ["server_error", null, "as the script says"],
  },
  gemini: {
    401: ["UNAUTHENTICATED", 401, "as the script says"],
    429: ["RESOURCE_EXHAUSTED", 429, "as the script says"],
    500: ["INTERNAL", 500, "as the script says"],
    529: ["UNAVAILABLE", 529, "as the script says"],
  },
};

describe.each(Object.entries(clients))("%s", (name, client) => {
  const prompt = (...steps: Step[]): Json => client.user(`Work. @@${JSON.stringify(steps)}@@`);
  interface Asking {
    readonly tools?: readonly string[];
    readonly streamed?: boolean;
    readonly signal?: AbortSignal;
  }
  const send = (url: string, history: readonly Json[], asking: Asking = {}): Promise<Response> => {
    const { tools = ["bash"], streamed = false, signal } = asking;
    const body = JSON.stringify(client.request(history, tools, streamed));
    return fetch(url + client.path(streamed), { method: "POST", body, signal: signal ?? null });
  };
  const [calling, ending, refusing] = stops[name] ?? [];
  const steps: readonly Step[] = [
    { text: "I will look.", shell: "ls" },
    { calls: [{ shell: "pwd" }, { tool: "read", input: { path: "a" } }] },
    { text: "Done." },
  ];
  const story: readonly Said[] = [
    {
      text: "I will look.",
      calls: [["bash", { command: "ls", description: "as asked" }]],
      stop: calling ?? "",
    },
    {
      text: "",
      calls: [
        ["bash", { command: "pwd", description: "as asked" }],
        ["read", { path: "a" }],
      ],
      stop: calling ?? "",
    },
    { text: "Done.", calls: [], stop: ending ?? "" },
    { text: "Nothing more to say.", calls: [], stop: ending ?? "" },
  ];

  test("the script in the conversation decides each answer, whole or in pieces", async () => {
    await using model = startFakeModel();
    const history = [prompt(...steps.map((step) => ({ ...step, pieces: 3 })))];
    for (const expected of story) {
      const answer = await (await send(model.url, history)).json();
      expect(client.said(answer)).toEqual(expected);
      const events = eventsIn(await (await send(model.url, history, { streamed: true })).text());
      expect(client.heard(events)).toEqual(expected);
      history.push(...client.kept(answer, 'seen @@[{"text":"a result is no script"}]@@'));
    }
    const asked = model.seen.map((request) => request.asked);
    expect(asked[0]).toMatchObject({ dialect: name, model: "m", tools: [{ name: "bash" }], streamed: false });
    expect(asked[1]).toMatchObject({ streamed: true });
  });

  test("a refusal is said in the words of the format", async () => {
    await using model = startFakeModel();
    const answer = await (await send(model.url, [prompt({ text: "No.", stop: "refusal" })])).json();
    expect(client.said(answer)).toEqual({ text: "No.", calls: [], stop: refusing ?? "" });
  });

  test("a request without tools gets a title and uses up no step", async () => {
    await using model = startFakeModel();
    const history = [prompt({ status: 500 }, { text: "one" })];
    const answer = await (await send(model.url, history, { tools: [] })).json();
    expect(client.said(answer).text).toBe("A title");
    expect((await send(model.url, history)).status).toBe(500);
    expect(client.said(await (await send(model.url, history)).json()).text).toBe("one");
  });

  test("the tokens of a step are claimed as the format counts them, whole and streamed", async () => {
    await using model = startFakeModel();
    const history = [prompt({ text: "x", usage: { input: 7, output: 5, cacheRead: 3, cacheWrite: 2 } })];
    const answer = await (await send(model.url, history)).json();
    expect(client.usage(answer)).toMatchObject(counted[name]);
    const events = eventsIn(await (await send(model.url, history, { streamed: true })).text());
    const claimed: Json = Object.assign(
      {},
      ...events
        .flatMap((event) => [event.message, event.response, event])
        .map((holder) => (holder === undefined ? undefined : client.usage(holder)))
        .filter((usage) => usage),
    );
    expect(claimed).toMatchObject(counted[name]);
  });

  test.each([401, 429, 500, 529])(
    "HTTP %i comes as often as the script says, then the step after it",
    async (status) => {
      await using model = startFakeModel();
      const history = [prompt({ status, times: 2, retryAfter: 9 }, { text: "at last" })];
      for (let tries = 0; tries < 2; tries++) {
        const answer = await send(model.url, history, { streamed: true });
        expect(answer.status).toBe(status);
        expect(answer.headers.get("retry-after")).toBe("9");
        expect(client.error(await answer.json())).toEqual(refusals[name]?.[status] ?? []);
      }
      expect(client.said(await (await send(model.url, history)).json()).text).toBe("at last");
    },
  );

  test("a limit says when it ends, and an error the script's own words", async () => {
    await using model = startFakeModel();
    const before = Math.floor(Date.now() / 1000);
    const history = [prompt({ status: 429, resetAfter: 90, type: "limit", message: "Come back later" })];
    const answer = await send(model.url, history);
    const body: Json = await answer.json();
    expect(client.error(body)).toContain("limit");
    expect(client.error(body)).toContain("Come back later");
    const stated = {
      messages: () => Number(answer.headers.get("anthropic-ratelimit-unified-reset")) - before,
      responses: () => body.error.resets_at - before,
      chat: () => Number(answer.headers.get("x-ratelimit-reset-requests")?.replace("s", "")),
      gemini: () => Number(body.error.details[0].retryDelay.replace("s", "")),
    }[name];
    expect(stated?.()).toBeGreaterThanOrEqual(90);
    expect(stated?.()).toBeLessThan(95);
  });

  test("a hang before the headers lasts until the client goes away", async () => {
    await using model = startFakeModel();
    const history = [prompt({ hang: "headers" }, { text: "awake" })];
    const signal = AbortSignal.timeout(200);
    await expect(send(model.url, history, { signal })).rejects.toThrow();
    await until(() => model.seen[0]?.isAbandoned === true);
    expect(client.said(await (await send(model.url, history)).json()).text).toBe("awake");
    expect(model.seen[1]?.isAbandoned).toBe(false);
  });

  test.each([true, false])("a stream hangs after its first words, or is cut there (streamed: %p)", async (streamed) => {
    await using model = startFakeModel();
    const history = [prompt({ hang: "stream" }, { cut: "stream" }, { text: "whole" })];
    const leave = new AbortController();
    const hanging = await send(model.url, history, { streamed, signal: leave.signal });
    const reader = hanging.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    expect(first.length).toBeGreaterThan(0);
    leave.abort();
    await until(() => model.seen[0]?.isAbandoned === true);
    const cut = await send(model.url, history, { streamed });
    expect(cut.status).toBe(200);
    await expect(cut.text()).rejects.toThrow();
    expect(client.said(await (await send(model.url, history)).json()).text).toBe("whole");
  });

  test.each(["mcp__lab__mail", "mcp_lab_mail", "lab_mail", "lab-mail"])(
    "a script finds the tool of an MCP server that is called %s",
    async (offered) => {
      await using model = startFakeModel();
      const history = [prompt({ tool: "mcp__lab__mail", input: { to: "you" } })];
      const answer = await (await send(model.url, history, { tools: ["bash", offered] })).json();
      expect(client.said(answer).calls).toEqual([[offered, { to: "you" }]]);
    },
  );
});

test("Codex offers the tools of a server below its name, and its own tools inside the conversation", async () => {
  await using model = startFakeModel();
  const ask = async (step: Step): Promise<Json> => {
    const shell = {
      type: "function",
      name: "exec_command",
      parameters: { properties: { cmd: {} }, required: ["cmd"] },
    };
    const lab = { type: "namespace", name: "mcp__lab", tools: [{ type: "function", name: "mail" }] };
    const input = [
      { type: "additional_tools", tools: [shell] },
      { type: "message", role: "user", content: [{ type: "input_text", text: `@@${JSON.stringify([step])}@@` }] },
    ];
    const body = JSON.stringify({ model: "m", input, tools: [lab] });
    const answer: Json = await (await fetch(`${model.url}/v1/responses`, { method: "POST", body })).json();
    return answer.output[0];
  };
  expect(await ask({ tool: "mcp__lab__mail" })).toMatchObject({ name: "mail", namespace: "mcp__lab", arguments: "{}" });
  expect(await ask({ shell: "ls" })).toMatchObject({ name: "exec_command", arguments: '{"cmd":"ls"}' });
});

test("what clients ask beside answers is answered", async () => {
  await using model = startFakeModel();
  const get = (path: string, method = "GET") =>
    fetch(model.url + path, { method, ...(method === "POST" ? { body: "{}" } : {}) });
  expect((await get("/", "HEAD")).status).toBe(200);
  expect(await (await get("/v1/models")).json()).toMatchObject({ data: [{ id: "fake-model" }] });
  expect(await (await get("/v1/messages/count_tokens", "POST")).json()).toMatchObject({ input_tokens: 100 });
  expect(await (await get("/v1beta/models/m:countTokens", "POST")).json()).toMatchObject({ totalTokens: 100 });
  expect((await get("/v1/responses")).status).toBe(426);
  expect((await get("/v1/unknown", "POST")).status).toBe(404);
});

async function until(condition: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 10_000; !condition(); await Bun.sleep(5)) {
    if (Date.now() > deadline) throw new Error("waited in vain");
  }
}
