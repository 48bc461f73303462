/** A pack of files: the import gives the path of the embedded copy. */
declare module "*.pack" {
  const path: string;
  export default path;
}
