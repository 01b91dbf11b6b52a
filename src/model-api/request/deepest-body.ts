/** How deep the JSON of a body may be nested at the most, whatever a gateway's options say. */
export const deepestBody = 5000;
