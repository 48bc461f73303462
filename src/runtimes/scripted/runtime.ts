import type { AgentAnswer, AgentRequest, Driver, LineReader, Reply, Runtime } from "../../ports/runtime.ts";
import { streamJsonReader } from "../claude/stream-json.ts";
import { streamJsonArguments, streamJsonInput } from "../claude/stream-json-launch.ts";
import { fields, text } from "../shared/json-fields.ts";

/** Our own agent, which speaks as Claude Code does: a real process that follows a scenario file and costs nothing. */
export function scriptedRuntime(program: readonly string[]): Runtime {
  const driver = (id: string, input: Driver["input"]): Driver => ({
    id,
    input,
    abilities: { resume: true, terminal: true, costLimit: true, tokens: "answer", tools: true },
    instructions: "file",
    steer: input === "once" ? null : ({ id, text }) => streamJsonInput(text, id),
    launch: (request) => ({
      argv: [...program, ...streamJsonArguments(request, input)],
      env: {},
      input: streamJsonInput(request.prompt),
      files: [],
    }),
    reader: scriptedReader,
  });
  return {
    id: "scripted",
    footprint: {
      keeps: [".scripted-agent"],
      brings: [],
      moves: {},
      reads: ["OVERSTORY_SCENARIO"],
      writes: ["OVERSTORY_SCENARIO_STATE"],
    },
    program: null,
    instructionFile: ".claude/CLAUDE.md",
    guardedFiles: [],
    guardLine: null,
    gitAuthor: "settings",
    environment: ["OVERSTORY_SCENARIO", "OVERSTORY_SCENARIO_STATE"],
    complaints: [],
    advice: {},
    drivers: [driver("stream-json", "once"), driver("control", "open")],
    terminal: ({ resume }) => ({
      argv: [...program, "--interactive", "--resume", resume],
      env: {},
      input: "",
      files: [],
    }),
  };
}

/** Beyond what Claude Code asks, the scripted agent asks for files, as agents of other vendors do. */
function scriptedReader(): LineReader {
  const read = streamJsonReader();
  return (line) => {
    const reading = read(line);
    const file = reading.replies.length === 0 ? undefined : fileReply(line);
    return file === undefined ? reading : { ...reading, replies: [file] };
  };
}

/** Called for lines that were JSON to the reader before: parsing them again cannot fail. */
function fileReply(line: string): Reply | undefined {
  const event = fields(JSON.parse(line));
  const request = fields(event?.request);
  const asked = fileRequest(text(request?.subtype), text(request?.path) ?? "", text(request?.text) ?? "");
  if (asked === undefined) return undefined;
  const form = (answer: AgentAnswer): string => {
    const response = { subtype: "success", request_id: event?.request_id, response: answer };
    return `${JSON.stringify({ type: "control_response", response })}\n`;
  };
  return { kind: "ask", request: asked, form };
}

function fileRequest(subtype: string | undefined, path: string, content: string): AgentRequest | undefined {
  if (subtype === "read_file") return { kind: "read-file", path };
  return subtype === "write_file" ? { kind: "write-file", path, text: content } : undefined;
}
