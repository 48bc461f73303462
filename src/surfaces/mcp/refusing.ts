import type { Description } from "../shared/description.ts";
import { errorCodes, failed } from "./protocol.ts";
import type { McpServer } from "./server.ts";

/** For whoever is nobody: every request gets the reason, so that a client can show more than a closed connection. */
export const refusingServer = ({ message, hint, code }: Description): McpServer => ({
  reply: async (incoming) => {
    if (incoming.kind !== "request") return undefined;
    const words = hint === undefined ? message : `${message}; ${hint}`;
    return { message: failed(incoming.id, { code: errorCodes.refused, message: words, data: { code } }) };
  },
});
