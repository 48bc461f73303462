declare module "*.wasm" {
  /** Where the file can be read: a path on disk, or inside the compiled program. */
  const path: string;
  export default path;
}
