/** Express 4 brings no types; what the tests call is the same in 5. */
declare module "express4" {
  import express from "express";
  export default express;
}
