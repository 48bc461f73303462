import { isPageAddress } from "../../contract/http/page-addresses.ts";
import type { UiFiles } from "./app.ts";
import { commonHeaders, refuse } from "./replies.ts";

/** The place in the page where the nonce of each answer goes. */
const noncePlace = "__NONCE__";

/**
 * Serves the files of the page. Every other address gets the document, which reads the address; with 404 where the page
 * has nothing to show there, and says so.
 */
export async function pageReply(ui: UiFiles, request: Request, path: string): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD") return refuse(405, "WRONG_METHOD", "only GET");
  const isPage = isPageAddress(path);
  const isFile = !isPage && (path.startsWith("/assets/") || /\.[a-z0-9]+$/i.test(path));
  const found = await ui.get(isFile ? path : "/index.html");
  if (found === undefined) return refuse(404, "NOT_FOUND", `there is no file ${path}`);
  const status = isPage || isFile ? 200 : 404;
  if (found.type.startsWith("text/html")) return htmlReply(status, new TextDecoder().decode(found.bytes));
  const accepted = (request.headers.get("accept-encoding") ?? "").split(",").map((one) => one.split(";")[0]?.trim());
  const encoding = ["br", "zstd", "gzip"].find((one) => accepted.includes(one) && found.encodings?.[one] !== undefined);
  const bytes = encoding === undefined ? found.bytes : found.encodings?.[encoding];
  return new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: {
      ...commonHeaders,
      "content-type": found.type,
      "cache-control": found.immutable ? "public, max-age=31536000, immutable" : "no-cache",
      vary: "accept-encoding",
      ...(encoding === undefined ? {} : { "content-encoding": encoding }),
    },
  });
}

function htmlReply(status: number, text: string): Response {
  const nonce = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))));
  return new Response(text.replaceAll(noncePlace, nonce), {
    status,
    headers: {
      ...commonHeaders,
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": policy(nonce),
    },
  });
}

const policy = (nonce: string): string =>
  [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
