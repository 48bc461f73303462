import { dlopen, ptr } from "bun:ffi";

/**
 * The process that connected to a Unix socket of ours, by its number here, also when it lives in a namespace of processes of its
 * own. Undefined where the system does not tell.
 */
export function peerOf(socket: object): number | undefined {
  // Bun has the number of a socket's file, but not in its types.
  const fd = "fd" in socket ? Number(socket.fd) : -1;
  const credentials = new Int32Array(3);
  const length = new Int32Array([credentials.byteLength]);
  const failed = getsockopt()?.(fd, solSocket, soPeercred, ptr(credentials), ptr(length));
  const [pid = 0] = credentials;
  return failed === 0 && pid > 0 ? pid : undefined;
}

const solSocket = 1;
const soPeercred = 17;

type GetSockOpt = (fd: number, level: number, option: number, value: unknown, length: unknown) => number;

let loaded: { readonly call: GetSockOpt | undefined } | undefined;

function getsockopt(): GetSockOpt | undefined {
  loaded ??= { call: load() };
  return loaded.call;
}

/** The names of glibc and of musl. */
const libraries = ["libc.so.6", "libc.so", `libc.musl-${process.arch === "x64" ? "x86_64" : "aarch64"}.so.1`];

function load(): GetSockOpt | undefined {
  for (const name of libraries) {
    try {
      const args = ["i32", "i32", "i32", "ptr", "ptr"] as const;
      return dlopen(name, { getsockopt: { args, returns: "i32" } }).symbols.getsockopt as GetSockOpt;
    } catch {
      // Not the name on this system. Without any of them no token counts over the socket, and the refusal says so.
    }
  }
  return undefined;
}
