/* R finds its routines here; they are written in Rust. */
void R_init_dpglm_extendr(void *dll);

void R_init_dpglm(void *dll) {
    R_init_dpglm_extendr(dll);
}
