import {
  to = gpurent_template.trainer
  id = "trainer-0123abcd"
}
